import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ServiceProcess } from '../../../scripts/parts/service-process.ts';

const run = promisify(execFile);

/** Why processes cannot be limited; undefined when they can. */
export const missingLimitsReason = await run('prlimit', ['--version']).then(
  () => undefined,
  () => 'no prlimit: on Debian, apt-get install util-linux',
);

/** The environment of a Node process that sets these limits of prlimit to itself before anything else, such as `--nofile=300:300`. */
export function limitedProcess(...limits: readonly string[]): { NODE_OPTIONS: string } {
  const program = `
    import { execFileSync } from 'node:child_process';
    execFileSync('prlimit', ['--pid', String(process.pid), ...${JSON.stringify(limits)}]);`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
}

/** The id of a process, from its log. */
export function readPid(process: ServiceProcess): number {
  const [, pid] = /"pid":(\d+)/.exec(process.log()) ?? [];
  if (pid === undefined) throw new Error('the log names no process');
  return Number(pid);
}
