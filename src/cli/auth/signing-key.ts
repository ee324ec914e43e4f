import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { Command } from 'commander';
import type { Core } from '../../compose.ts';
import {
  listSigningKeys,
  removeSigningKey,
  rotateSigningKey,
  signingKeysTopic,
} from '../../services/auth/signing-keys.ts';
import { printResult, resultCommand } from '../output.ts';
import { waitForBus, withCore, operator } from '../core.ts';
import type { CommandIo } from '../io.ts';

/** `ams key …` */
export function keyCommand(io: CommandIo): Command {
  async function publishChange(core: Core): Promise<void> {
    try {
      await waitForBus(core);
      await core.bus.publish([{ topic: signingKeysTopic, body: '' }]);
    } catch {
      io.log('note: the bus is unavailable; running processes notice the change within a minute\n');
    }
  }

  const rotate = resultCommand('rotate', 'create a new signing key; older keys stay published').action(
    async (options: { json?: boolean }) => {
      await withCore(io, async (core) => {
        const { SECRET_KEY } = core.config;
        const key = await core.unitOfWork.write(operator(), (work) => rotateSigningKey(work, SECRET_KEY));
        await publishChange(core);
        printResult(io, options, key);
      });
    },
  );

  const list = resultCommand('list', 'list the signing keys, newest first').action(
    async (options: { json?: boolean }) => {
      const keys = await withCore(io, ({ unitOfWork }) => unitOfWork.read(system, listSigningKeys));
      printResult(io, options, options.json ? { keys } : keys);
    },
  );

  const remove = resultCommand('remove', 'remove a signing key; its signatures become invalid')
    .argument('<id>')
    .action(async (id: string, options: { json?: boolean }) => {
      await withCore(io, async (core) => {
        const removed = await core.unitOfWork.write(operator(), (work) => removeSigningKey(work, id));
        await publishChange(core);
        printResult(io, options, removed);
      });
    });

  return new Command('key')
    .description('manage the signing keys of the authorization server')
    .addCommand(rotate)
    .addCommand(list)
    .addCommand(remove);
}
