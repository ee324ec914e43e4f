import { Command } from 'commander';
import type { Core } from '../../compose.ts';
import {
  listSigningKeys,
  removeSigningKey,
  rotateSigningKey,
  signingKeysTopic,
} from '../../services/auth/signing-keys.ts';
import { printResult, resultCommand } from '../output.ts';
import { waitForBus, withCore } from '../core.ts';
import type { CommandIo } from '../io.ts';

/** `ams key …` */
export function keyCommand(io: CommandIo): Command {
  async function tell(core: Core): Promise<void> {
    try {
      await waitForBus(core);
      await core.bus.publish([{ topic: signingKeysTopic, body: '' }]);
    } catch {
      io.log('note: the bus is away; running processes notice the change within a minute\n');
    }
  }

  const rotate = resultCommand('rotate', 'make a new signing key; those before stay published').action(
    async (options: { json?: boolean }) => {
      await withCore(io, async (core) => {
        const { SECRET_KEY } = core.config;
        const key = await core.unitOfWork.writeAsSystem((work) => rotateSigningKey(work, SECRET_KEY));
        await tell(core);
        printResult(io, options, key);
      });
    },
  );

  const list = resultCommand('list', 'the signing keys, newest first').action(
    async (options: { json?: boolean }) => {
      const keys = await withCore(io, ({ unitOfWork }) => unitOfWork.readAsSystem(listSigningKeys));
      printResult(io, options, options.json ? { keys } : keys);
    },
  );

  const remove = resultCommand('remove', 'publish a signing key no longer; what it signed is void')
    .argument('<id>')
    .action(async (id: string, options: { json?: boolean }) => {
      await withCore(io, async (core) => {
        const removed = await core.unitOfWork.writeAsSystem((work) => removeSigningKey(work, id));
        await tell(core);
        printResult(io, options, removed);
      });
    });

  return new Command('key')
    .description('the keys that the authorization server signs with')
    .addCommand(rotate)
    .addCommand(list)
    .addCommand(remove);
}
