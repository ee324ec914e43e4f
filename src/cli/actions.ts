import type { Command } from 'commander';
import { system } from '../../packages/core/src/domain/auth/audit.ts';
import type { Revocation } from '../services/auth/tokens.ts';
import type { ReadService, WriteService } from '../services/people/service-calls.ts';
import { operator, publishRevocations, withCore } from './core.ts';
import type { CommandIo } from './io.ts';
import { printResult } from './output.ts';

/** The action of a command. Commander gives it the arguments, the options and the command. */
type Action<Input extends unknown[]> = (...given: [...Input, Command]) => Promise<void>;

/**
 * An action that prints what `run` returns for the arguments and options of the command.
 * @param list for a list: the field that it is in with --json
 */
export function printing<Input extends unknown[]>(
  io: CommandIo,
  run: (...input: Input) => Promise<object>,
  list?: string,
): Action<Input> {
  return async (...given) => {
    const { json = false } = (given.at(-1) as Command).opts<{ json?: boolean }>();
    const result = await run(...(given.slice(0, -1) as Input));
    printResult(io, { json }, json && list !== undefined ? { [list]: result } : result);
  };
}

/** An action that prints what a service reads. @param list as of `printing` */
export function reading<Input extends unknown[]>(
  io: CommandIo,
  service: ReadService<Input, object>,
  list?: string,
): Action<Input> {
  const read = (...input: Input) =>
    withCore(io, ({ unitOfWork }) => unitOfWork.read(system, (work) => service(work, ...input)));
  return printing(io, read, list);
}

/** An action that calls a service in a transaction, as the operator, and prints what it returns. */
export function writing<Input extends unknown[]>(
  io: CommandIo,
  service: WriteService<Input, object>,
): Action<Input> {
  return printing(io, (...input: Input) =>
    withCore(io, ({ unitOfWork }) => unitOfWork.write(operator(), (work) => service(work, ...input))),
  );
}

/** As `writing`, for a change that ends tokens. Publishes `ended` to running processes, and prints the rest. */
export function revoking<Input extends unknown[]>(
  io: CommandIo,
  service: WriteService<Input, { ended: readonly Revocation[] }>,
): Action<Input> {
  return printing(io, (...input: Input) =>
    withCore(io, async (core) => {
      const { ended, ...result } = await core.unitOfWork.write(operator(), (work) => service(work, ...input));
      await publishRevocations(core, ended, io);
      return result;
    }),
  );
}
