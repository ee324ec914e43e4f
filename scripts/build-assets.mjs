// Makes the files of dist/ that pages load from packages which are only development dependencies: the scripts of the console, and the view
// inside chat clients as one document.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync, transformSync } from 'esbuild';
import { usedProperties, usedStyles } from './parts/used-styles.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const script = {
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  legalComments: 'eof',
  logLevel: 'error',
};
buildSync({
  ...script,
  entryPoints: ['console.js', 'watch.js'].map((name) => join(root, 'assets', name)),
  outdir: join(root, 'dist', 'assets'),
});

const sheets = ['tokens', 'base', 'controls', 'content', 'messages', 'view'];
const styles = sheets.map((name) => readFileSync(join(root, 'assets', `${name}.css`), 'utf8')).join('');
// The client says which theme it has.
const dark = '@media (prefers-color-scheme: dark) {\n  :root {';
if (!styles.includes(dark)) throw new Error('the dark colors are not where they were');
const minified = transformSync(styles.replace(dark, "@media all { :root[data-theme='dark'] {"), {
  loader: 'css',
  minify: true,
});
// Also in a client that allows more, a view loads nothing.
const policy =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
for (const name of ['view-conversation', 'view-inbox']) {
  const view = buildSync({
    ...script,
    entryPoints: [join(root, 'assets', `${name}.js`)],
    legalComments: 'none',
    tsconfig: join(root, 'tsconfig.json'),
    write: false,
  }).outputFiles[0].text;
  const code = usedProperties(usedStyles(minified.code, view), view);
  if (/<\/(?:script|style)/i.test(view + code))
    throw new Error(`${name} has the end of an element in its script or styles`);
  writeFileSync(
    join(root, 'dist', 'assets', `${name}.html`),
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Agent Messaging</title><style>${code}</style></head><body><script type="module">${view}</script></body></html>`,
  );
}
