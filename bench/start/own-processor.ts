import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { listPostgresProcesses } from '../load/processes.ts';
import type { Service } from './service.ts';

/** Whether processes can be given a processor of their own here: with `taskset` (util-linux) and more than one processor. */
export const hasOwnProcessors = (): boolean =>
  process.platform === 'linux' && cpus().length > 1 && spawnSync('taskset', ['-V']).status === 0;

/** Lets all threads of processes run on these processors only, and those that they start later. */
function runOn(processors: string, pids: readonly number[]): void {
  for (const pid of pids) {
    const { status, stderr } = spawnSync('taskset', ['-a', '-c', '-p', processors, String(pid)]);
    if (status !== 0 && !String(stderr).includes('No such process')) throw new Error(String(stderr));
  }
}

const processesOf = ({ pids, postgres_folder, redis_pid }: Service): number[] => {
  const { postmaster, backends } = listPostgresProcesses(postgres_folder);
  return [...pids.api, ...pids.worker, postmaster, ...backends, ...(redis_pid === null ? [] : [redis_pid])];
};

/** Gives each of two installations one processor, and the load generator that of the second one, as if they were two machines. */
export function separate(first: Service, second: Service): void {
  runOn('0', processesOf(first));
  runOn('1', [...processesOf(second), process.pid]);
}

/** Lets two installations and the load generator share all processors. */
export function share(first: Service, second: Service): void {
  const all = `0-${cpus().length - 1}`;
  runOn(all, [...processesOf(first), ...processesOf(second), process.pid]);
}
