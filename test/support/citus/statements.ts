import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '../../..');

/** A statement that a module of the repositories makes while it loads. */
export interface MadeStatement {
  name?: string;
  text: string;
  /** The file and line of the call. */
  place: string;
}

const folders = ['src/repositories', 'src/work'];
const call = /(?<!\.)\b(?:statement|unpreparedStatement)(?=\()/g;

/** Each call with its place. */
function markCalls(file: string, source: string, mark: (name: string, place: string) => string): string {
  const lineOf = (offset: number) => source.slice(0, offset).split('\n').length;
  return source.replace(call, (name, offset: number) => mark(name, `${file}:${lineOf(offset)}`));
}

/**
 * Loads every repository in a process of its own, with calls that are recorded. Other test files share modules with this one, so they
 * cannot be replaced here. Returns the statements, and the places of all calls.
 */
export async function listStatements(): Promise<{ made: MadeStatement[]; places: string[] }> {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && file !== 'queryable.ts')
      .map((file) => `${folder}/${file}`),
  );
  const places: string[] = [];
  const { outputFiles } = await build({
    stdin: {
      contents: `${files.map((file) => `import './${file}';`).join('\n')}\nprocess.stdout.write(JSON.stringify(globalThis.made));`,
      resolveDir: root,
    },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    banner: {
      js: `globalThis.made = [];
        globalThis.recordCall = (place, make) => (...values) => {
          const result = make(...values);
          globalThis.made.push({ ...result, place });
          return result;
        };`,
    },
    plugins: [
      {
        name: 'record-statements',
        setup: ({ onLoad }) =>
          onLoad({ filter: /\/src\/(?:repositories|work)\/.*\.ts$/ }, ({ path }) => {
            const file = relative(root, path);
            const source = readFileSync(path, 'utf8');
            if (!files.includes(file)) return { contents: source, loader: 'ts' };
            const contents = markCalls(file, source, (name, place) => {
              places.push(place);
              return `globalThis.recordCall('${place}', ${name})`;
            });
            return { contents, loader: 'ts' };
          }),
      },
    ],
  });
  // Packages are found from here.
  mkdirSync(join(root, '.cache'), { recursive: true });
  const own = mkdtempSync(join(root, '.cache/statements-'));
  try {
    writeFileSync(join(own, 'list.mjs'), outputFiles[0]?.contents ?? '');
    const output = execFileSync(process.execPath, [join(own, 'list.mjs')], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    return { made: JSON.parse(output) as MadeStatement[], places };
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
