-- How the files of an import were read: the options of a command, each with a space before it, so that rows of it that were
-- corrected are read the same. NULL where an older fleetload made it.
ALTER TABLE import ADD COLUMN reading TEXT;
