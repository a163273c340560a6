"use strict";
// The page says everything without this; here it becomes easier to use. No request, no storage, nothing evaluated,
// and text goes in as text only.
(() => {
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));

  // Moments are written in UTC; beside the important ones stands the reader's own time.
  for (const time of all("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime()) || !time.dateTime.includes("T")) continue;
    const local = moment.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
    time.title = `${local}, your time`;
    if (time.dataset.local === undefined || moment.getTimezoneOffset() === 0) continue;
    const beside = document.createElement("span");
    beside.className = "muted";
    beside.textContent = ` (${local}, your time)`;
    time.append(beside);
  }

  // What is to be typed can be copied.
  if (navigator.clipboard) {
    for (const command of all(".command")) {
      const code = command.querySelector("code");
      const button = document.createElement("button");
      button.type = "button";
      button.className = "quiet";
      button.textContent = "Copy";
      button.setAttribute("aria-label", `Copy the command ${code.textContent}`);
      button.addEventListener("click", () => {
        navigator.clipboard.writeText(code.textContent).then(
          () => { button.textContent = "Copied"; },
          () => { getSelection().selectAllChildren(code); button.textContent = "Selected"; },
        );
      });
      command.append(button);
    }
  }

  // On paper everything is open; afterwards it is as it was.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open])");
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
    opened = [];
  });

  // Trees open and close as a whole.
  for (const button of all("button[data-open]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      for (const details of all("details", document.getElementById(button.dataset.tree))) {
        details.open = button.dataset.open === "all";
      }
    });
  }

  // A table with a form `data-finds` is searched by words and by what its groups of rows are marked with. What is searched
  // for is in the address (#q=…&status=…), so that it can be passed on.
  const form = document.querySelector("form[data-finds]");
  if (!form) return;
  const table = document.getElementById(form.dataset.finds);
  const groups = all("tbody", table).map((group) => ({
    group,
    rows: all("tr:not(.group, .rest)", group).map((row) => ({ row, text: null })),
    common: null,
  }));
  const total = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  const fields = all("[name]", form);
  const found = document.getElementById(form.dataset.found);
  const number = new Intl.NumberFormat("en");
  const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

  const show = () => {
    const words = folded(form.elements.q.value).split(/\s+/).filter(Boolean);
    const wanted = fields.filter((field) => field.name !== "q" && field.value);
    const fits = (text, words) => words.every((word) => text.includes(word));
    let shown = 0;
    for (const entry of groups) {
      const marked = wanted.every((field) => entry.group.dataset[field.name] === field.value);
      // What the rows have in common is told above them.
      if (marked && words.length) entry.common ??= folded(entry.group.querySelector(".group").textContent);
      let of_group = 0;
      for (const row of entry.rows) {
        if (marked && words.length) row.text ??= `${entry.common} ${folded(row.row.textContent)}`;
        const is_shown = marked && (!words.length || fits(row.text, words));
        row.row.hidden = !is_shown;
        of_group += is_shown;
      }
      entry.group.hidden = of_group === 0;
      shown += of_group;
    }
    found.textContent = shown === total
      ? `${number.format(total)} ${total === 1 ? "row" : "rows"}`
      : `${number.format(shown)} of ${number.format(total)} rows`;
    // Whoever finds nothing must know that not every row was searched.
    if (shown < total && form.dataset.more) found.textContent += `. ${form.dataset.more}`;
    table.hidden = shown === 0;
  };

  const asked = () => {
    const words = location.hash.slice(1);
    return words.includes("=") ? new URLSearchParams(words) : null;
  };
  const take = () => {
    const search = asked();
    if (!search) return;
    for (const field of fields) {
      field.value = search.get(field.name) ?? "";
      // A choice that is not offered shows no row as if it were: it is taken as a word.
      if (field.value !== (search.get(field.name) ?? "")) {
        field.value = "";
        form.elements.q.value = `${form.elements.q.value} ${search.get(field.name)}`.trim();
      }
    }
    show();
    form.scrollIntoView();
  };
  const keep = () => {
    const search = new URLSearchParams();
    for (const field of fields) if (field.value) search.set(field.name, field.value);
    history.replaceState(null, "", `#${search.size ? search : table.id}`);
  };

  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { show(); keep(); });
  form.addEventListener("reset", () => setTimeout(() => { show(); keep(); form.elements.q.focus(); }));
  addEventListener("hashchange", take);
  addEventListener("keydown", (event) => {
    const typing = event.target.closest("input[type=search], select, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      form.elements.q.focus();
    }
  });
  show();
  take();
})();
