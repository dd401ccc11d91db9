const form = document.querySelector("form[role=search]");
const input = form.querySelector("input");
const results = form.querySelector("ol");
const base = form.dataset.base;
let loading;

input.addEventListener("input", () => void show());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  results.querySelector("a")?.click();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") results.hidden = true;
  if (event.key === "/" && !/^(?:INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "")) {
    event.preventDefault();
    input.focus();
  }
});
document.addEventListener("click", (event) => {
  if (!form.contains(event.target)) results.hidden = true;
});

async function show() {
  loading ??= fetch(`${base}search.json`).then((response) => response.json());
  const entries = await loading;
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? [] : entries.flatMap((entry) => score(entry, words));
  found.sort((a, b) => b.score - a.score);
  results.replaceChildren(...found.slice(0, 12).map(({ entry }) => item(entry, words)));
  if (words.length > 0 && found.length === 0) results.append("Nothing found");
  results.hidden = words.length === 0;
}

/** Every word has to be there; a heading counts more than the text below it. */
function score(entry, words) {
  const heading = `${entry.title} ${entry.heading}`.toLowerCase();
  const text = entry.text.toLowerCase();
  let sum = 0;
  for (const word of words) {
    if (heading.includes(word)) sum += 10;
    else if (text.includes(word)) sum += 1;
    else return [];
  }
  return [{ entry, score: sum }];
}

function item({ page, title, heading, text }, words) {
  const link = document.createElement("a");
  link.href = base + page;
  const name = document.createElement("strong");
  name.textContent = heading === title ? title : `${title} › ${heading}`;
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 40);
  const part = document.createElement("span");
  part.textContent = text.slice(at, at + 140);
  link.append(name, part);
  const line = document.createElement("li");
  line.append(link);
  return line;
}
