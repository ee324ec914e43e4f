import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';

const program = resolve(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/conformance/dist/index.js',
);
const loader = resolve(import.meta.dirname, 'fs-with-glob.mjs');

const checks = z.array(
  z.looseObject({
    id: z.string(),
    status: z.enum(['SUCCESS', 'FAILURE', 'WARNING', 'SKIPPED', 'INFO']),
    errorMessage: z.string().optional(),
  }),
);

export interface ConformanceRun {
  code: number | null;
  /** Of all scenarios that ran, as they were written down. */
  checks: z.infer<typeof checks>;
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
    timeout: 50_000,
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
    return { code, checks: await writtenDown(folder), output: lines.join('\n') };
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
}

/** Each scenario has a folder of its own. */
async function writtenDown(folder: string): Promise<ConformanceRun['checks']> {
  const scenarios = await readdir(folder);
  const found = await Promise.all(
    scenarios.sort().map(async (scenario) => {
      const text = await readFile(join(folder, scenario, 'checks.json'), 'utf8');
      return checks.parse(JSON.parse(text));
    }),
  );
  return found.flat();
}
