-- Who gave up a row that was left out: it is nobody's to correct any more. NULL as long as nobody has.
ALTER TABLE left_out ADD COLUMN given_up TEXT;
