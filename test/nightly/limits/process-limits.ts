import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ServiceProcess } from '../../../scripts/parts/service-process.ts';

const run = promisify(execFile);

/** Why processes cannot be limited; undefined when they can. */
export const missingLimitsReason = await run('prlimit', ['--version']).then(
  () => undefined,
  () => 'no prlimit: on Debian, apt-get install util-linux',
);

/** The environment of a Node process that can have this many open files. */
export const limitFiles = (files: number) => limitAtStart('nofile', `'${files}:${files}'`);

/** The same that can allocate this many bytes. Node 24 reserves 0.5 GB at its start, which it does not use and which also counts. */
export const limitData = (bytes: number) =>
  limitAtStart(
    'data',
    `${bytes} + 1024 * /VmData:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]`,
  );

/** Sets a limit of prlimit before anything else. `value` is JavaScript. */
function limitAtStart(name: string, value: string): { NODE_OPTIONS: string } {
  const program = `
    import { execFileSync } from 'node:child_process';
    import { readFileSync } from 'node:fs';
    execFileSync('prlimit', ['--pid', String(process.pid), '--${name}=' + (${value})]);`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
}

/** The id of a process, from its log. */
export function readPid(process: ServiceProcess): number {
  const [, pid] = /"pid":(\d+)/.exec(process.log()) ?? [];
  if (pid === undefined) throw new Error('the log names no process');
  return Number(pid);
}
