import { userInfo } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { compose, type Core } from '../compose.ts';
import { loadConfig } from '../config.ts';
import { authorFromOperator } from '../domain/auth/audit.ts';
import { revocationMessages } from '../services/auth/revocations.ts';
import type { Revocation } from '../services/auth/tokens.ts';
import type { CommandIo } from './io.ts';

/** Opens what a command needs, runs it, and closes everything again. */
export async function withCore<T>({ env }: CommandIo, run: (core: Core) => Promise<T>): Promise<T> {
  // A command reports its faults itself, in one line; the logs of connections would come on top.
  const core = compose({ ...loadConfig(env), LOG_LEVEL: 'silent', DATABASE_POOL_SIZE: 2 }, 'ams');
  try {
    const { unitOfWork } = core;
    const author = authorFromOperator(operatorName());
    const writeAsSystem: typeof unitOfWork.writeAsSystem = (work) => unitOfWork.writeAsSystem(work, author);
    return await run({ ...core, unitOfWork: { ...unitOfWork, writeAsSystem } });
  } finally {
    await core.close();
  }
}

/** Whoever runs the command, by the name on this machine; some containers have users without one. */
function operatorName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}

const connectTimeoutMs = 3_000;

/** Whether the bus connects within three seconds. */
export async function waitForBus({ bus }: Core): Promise<boolean> {
  const deadline = Date.now() + connectTimeoutMs;
  while (!bus.isHealthy() && Date.now() < deadline) await pause(20);
  return bus.isHealthy();
}

/** Tells running processes what ended. A bus that is away only delays them: the database has it already. */
export async function publishRevocations(
  core: Core,
  revocations: readonly Revocation[],
  io: CommandIo,
): Promise<void> {
  if (revocations.length === 0) return;
  try {
    await waitForBus(core);
    await core.bus.publish(revocationMessages(revocations));
  } catch {
    io.log('note: the bus is away; running processes notice the change within five seconds\n');
  }
}
