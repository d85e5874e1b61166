// Quantities as the reports of dfc print them, and elements made from text that nobody trusts: names only ever
// become text nodes.
function digits(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}
function seconds(nanoseconds) {
  const size = Math.abs(nanoseconds);
  if (size === 0) return "0 s";
  if (size < 999.5) return digits(nanoseconds) + " ns";
  if (size < 999.5e3) return digits(nanoseconds / 1e3) + " µs";
  if (size < 999.5e6) return digits(nanoseconds / 1e6) + " ms";
  return digits(nanoseconds / 1e9) + " s";
}
function byteText(bytes) {
  if (bytes < 1000) return bytes + " B";
  let unit = 0, value = bytes;
  for (; value >= 999.5 && unit < 5; unit++) value /= 1000;
  return digits(value) + " " + ["B", "KB", "MB", "GB", "TB", "PB"][unit];
}
function percent(share) { return (100 * share).toFixed(1) + " %"; }
function count(number, noun) {
  const plural = /(s|x|ch|sh)$/.test(noun) ? "es" : "s";
  return number.toLocaleString("en") + " " + noun + (number === 1 ? "" : plural);
}
function shortened(text, most) {
  const letters = Array.from(text.length > 4 * most ? text.slice(0, 4 * most) : text);
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : text;
}
/// An element with a class, attributes, and children that are elements or texts.
function make(tag, name, attributes, ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}
const byId = (id) => document.getElementById(id);
