import { Command } from 'commander';
import {
  listSigningKeys,
  removeSigningKey,
  rotateSigningKey,
  signingKeysTopic,
} from '../../services/auth/signing-keys.ts';
import type { Secrets } from '../../shared/encryption.ts';
import type { WriteService } from '../../services/people/service-calls.ts';
import { reencryptSecrets } from '../../services/auth/reencrypt.ts';
import { printing, reading } from '../actions.ts';
import { operator, waitForBus, withCore } from '../core.ts';
import type { CommandIo } from '../io.ts';
import { resultCommand } from '../output.ts';

/** `ams key …` */
export function keyCommand(io: CommandIo): Command {
  /** Changes the keys, and tells running processes. */
  async function change<T>(service: WriteService<[secrets: Secrets], T>): Promise<T> {
    return withCore(io, async (core) => {
      const result = await core.unitOfWork.write(operator(), (work) => service(work, core.config.SECRETS));
      try {
        await waitForBus(core);
        await core.bus.publish([{ topic: signingKeysTopic, body: '' }]);
      } catch {
        io.log('note: the bus is unavailable; running processes notice the change within a minute\n');
      }
      return result;
    });
  }

  const rotate = resultCommand(
    'rotate',
    'create a new signing key; older keys stay published. Other installations must confirm your agents again',
  ).action(printing(io, () => change(rotateSigningKey)));

  const list = resultCommand('list', 'list the signing keys, newest first').action(
    reading(io, listSigningKeys, 'keys'),
  );

  const remove = resultCommand('remove', 'remove a signing key; its signatures become invalid')
    .argument('<id>')
    .action(printing(io, (id: string) => change((work) => removeSigningKey(work, id))));

  const reencrypt = resultCommand(
    'reencrypt',
    'encrypt the stored secrets with SECRET_KEY, if one of SECRET_KEY_FALLBACKS has encrypted them',
  ).action(printing(io, () => change(reencryptSecrets), 'columns'));

  return new Command('key')
    .description('manage the keys of the service')
    .addCommand(rotate)
    .addCommand(list)
    .addCommand(remove)
    .addCommand(reencrypt);
}
