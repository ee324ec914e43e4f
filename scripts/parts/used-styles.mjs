/**
 * The rules of minified CSS that a script can use: those whose selectors name only classes and elements that its text has.
 * @param {string} css
 * @param {string} script
 * @returns {string}
 */
export function usedStyles(css, script) {
  const has = (name) => new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(script);
  const isUsed = (selector) => {
    const names =
      selector.replaceAll(/\[[^\]]*\]|:not\([^)]*\)|::?[\w-]+/g, ' ').match(/\.?[a-z][\w-]*/gi) ?? [];
    return names.every((name) => ['html', 'body'].includes(name) || has(name.replace('.', '')));
  };
  return splitRules(css)
    .map(([prelude, body]) => {
      if (prelude.startsWith('@media')) {
        const inner = usedStyles(body, script);
        return inner && `${prelude}{${inner}}`;
      }
      const selectors = prelude.split(/,(?![^(]*\))/).filter(isUsed);
      return selectors.length > 0 && `${selectors.join(',')}{${body}}`;
    })
    .filter(Boolean)
    .join('');
}

/**
 * The same CSS without the custom properties that neither its rules nor the script read.
 * @param {string} css
 * @param {string} script
 * @returns {string}
 */
export function usedProperties(css, script) {
  const isRead = (name) => css.includes(`var(${name})`) || script.includes(`"${name}"`);
  return css.replaceAll(/(--[\w-]+): ?([^;}]*)(;?)/g, (_, name, value, end) =>
    isRead(name) ? `${name}:${value}${end}` : '',
  );
}

/** The rules of a style sheet, as prelude and body. */
function splitRules(css) {
  const rules = [];
  let depth = 0;
  let start = 0;
  let open = 0;
  for (let at = 0; at < css.length; at += 1) {
    if (css[at] === '{' && (depth += 1) === 1) open = at;
    if (css[at] === '}' && (depth -= 1) === 0) {
      rules.push([css.slice(start, open).trim(), css.slice(open + 1, at)]);
      start = at + 1;
    }
  }
  return rules;
}
