// node scripts/client/pack.mjs: packs the client libraries, so that the service can serve them: dist/clients/client.tgz for npm, and a wheel
// for pip. Runs after bundle.mjs. The files are the same for the same sources.
import { createHash } from 'node:crypto';
import {
  createWriteStream,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { ZipFile } from 'yazl';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const target = join(root, 'dist', 'clients');
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });

/** The files below a folder, in a fixed order. */
function filesBelow(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => statSync(join(folder, name)).isFile() && !name.includes('__pycache__'))
    .toSorted((one, other) => (one < other ? -1 : 1))
    .map((path) => ({ path, bytes: readFileSync(join(folder, path)) }));
}

/** One file of a tar archive (POSIX.1-1988, ustar). */
function tarEntry(path, bytes) {
  if (Buffer.byteLength(path) > 100) throw new Error(`${path} is too long for the archive`);
  const header = Buffer.alloc(512);
  const octal = (value, length) => `${value.toString(8).padStart(length - 1, '0')}\0`;
  const fields = [
    path.padEnd(100, '\0'),
    octal(path.endsWith('cli/main.js') ? 0o755 : 0o644, 8),
    octal(0, 8),
    octal(0, 8),
  ];
  header.write(`${fields.join('')}${octal(bytes.length, 12)}${octal(499162500, 12)}${' '.repeat(8)}0`);
  header.write('ustar\x0000', 257);
  header.write(
    octal(
      header.reduce((sum, byte) => sum + byte, 0),
      7,
    ),
    148,
  );
  return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
}

const client = join(root, 'packages', 'client');
const packed = [
  { path: 'package.json', bytes: readFileSync(join(client, 'package.json')) },
  { path: 'README.md', bytes: readFileSync(join(client, 'README.md')) },
  ...filesBelow(join(client, 'dist')).map(({ path, bytes }) => ({ path: `dist/${path}`, bytes })),
];
const entries = packed.flatMap(({ path, bytes }) => tarEntry(`package/${path}`, bytes));
writeFileSync(join(target, 'client.tgz'), gzipSync(Buffer.concat([...entries, Buffer.alloc(1024)])));

// A wheel (PEP 427).
const python = join(root, 'packages', 'client-python');
const project = readFileSync(join(python, 'pyproject.toml'), 'utf8');
const valueOf = (name) => new RegExp(`^${name} = "(.*)"$`, 'm').exec(project)[1];
const name = valueOf('name').replaceAll('-', '_');
const info = `${name}-${valueOf('version')}.dist-info`;
const metadata = [
  'Metadata-Version: 2.1',
  `Name: ${valueOf('name')}`,
  `Version: ${valueOf('version')}`,
  `Summary: ${valueOf('description')}`,
  `Requires-Python: ${valueOf('requires-python')}`,
  'License: MIT',
  'Description-Content-Type: text/markdown',
  '',
  readFileSync(join(python, 'README.md'), 'utf8'),
].join('\n');
const wheel = 'Wheel-Version: 1.0\nGenerator: agent-messaging\nRoot-Is-Purelib: true\nTag: py3-none-any\n';
const contents = [
  ...filesBelow(join(python, 'src')).filter(({ path }) => path.startsWith('agent_messaging/')),
  { path: `${info}/METADATA`, bytes: Buffer.from(metadata) },
  { path: `${info}/WHEEL`, bytes: Buffer.from(wheel) },
];
const digestOf = (bytes) => `sha256=${createHash('sha256').update(bytes).digest('base64url')}`;
const record = contents.map(({ path, bytes }) => `${path},${digestOf(bytes)},${bytes.length}\n`).join('');
const archive = new ZipFile();
contents.push({ path: `${info}/RECORD`, bytes: Buffer.from(`${record}${info}/RECORD,,\n`) });
for (const { path, bytes } of contents)
  archive.addBuffer(bytes, path, { mtime: new Date(1985, 9, 26, 8, 15), mode: 0o100644 });
archive.end();
await pipeline(
  archive.outputStream,
  createWriteStream(join(target, `${name}-${valueOf('version')}-py3-none-any.whl`)),
);
