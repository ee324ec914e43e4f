import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parse } from 'yaml';
import { z } from 'zod';

const program = resolve(
  import.meta.dirname,
  '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js',
);
const loader = resolve(import.meta.dirname, 'fs-with-glob.mjs');

const checks = z.array(
  z.looseObject({
    id: z.string(),
    status: z.enum(['SUCCESS', 'FAILURE', 'WARNING', 'SKIPPED', 'INFO']),
    errorMessage: z.string().optional(),
  }),
);

type Checks = z.infer<typeof checks>;

export interface ConformanceRun {
  code: number | null;
  /** Of all scenarios that ran, as they were written down. */
  checks: Checks;
  /** The same by scenario. */
  scenarios: ReadonlyMap<string, Checks>;
  output: string;
}

/** Runs the MCP project's own conformance suite and reads what it found. `onLine` sees each line of its output. */
export async function runConformance(
  args: readonly string[],
  onLine: (line: string) => void = () => undefined,
): Promise<ConformanceRun> {
  const folder = await mkdtemp(join(tmpdir(), 'ams-conformance-'));
  const child = spawn(process.execPath, ['--import', loader, program, ...args, '--output-dir', folder], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 220_000,
    killSignal: 'SIGKILL',
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (line) => {
      lines.push(line);
      onLine(line);
    });
  }
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    const scenarios = await readChecks(folder);
    return { code, checks: [...scenarios.values()].flat(), scenarios, output: lines.join('\n') };
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
}

/** Each scenario has a folder of its own: its name with what the suite puts around it. */
async function readChecks(folder: string): Promise<Map<string, Checks>> {
  const folders = await readdir(folder);
  const found = await Promise.all(
    folders.sort().map(async (one): Promise<[string, Checks]> => {
      const text = await readFile(join(folder, one, 'checks.json'), 'utf8');
      return [one.replace(/^server-(.*?)-\d{4}-\d\d-\d\dT.*$/, '$1'), checks.parse(JSON.parse(text))];
    }),
  );
  return new Map(found);
}

const requirementSet = z.object({ server: z.array(z.string()).min(1) });

/** The server scenarios that count for a revision of the protocol, as the suite itself has them. */
export async function listScoredScenarios(revision: string): Promise<readonly string[]> {
  const text = await readFile(resolve(program, `../../requirements/${revision}.yaml`), 'utf8');
  return requirementSet.parse(parse(text)).server;
}
