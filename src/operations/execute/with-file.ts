import { DomainError } from '../../domain/errors.ts';
import type { Actor } from '../../domain/auth/actor.ts';
import type { StoredFile } from '../../domain/attachments/attachments.ts';
import type { UnitOfWork } from '../../work/unit-of-work.ts';
import type { Operation } from '../define.ts';
import type { Intake } from './file-intake.ts';

interface FileCall {
  operation: Operation;
  actor: Actor;
  input: unknown;
}

/**
 * Stores the file of a call, if it brings one, before its unit of work opens: so no transaction waits for bytes. They are taken
 * away again when the call comes to nothing. Of a call whose end nobody knows they stay: its row may be there, and if not, the
 * sweep finds them.
 */
export function createWithFile(unitOfWork: Pick<UnitOfWork, 'read'>, intake: Intake) {
  return async function withFile<T extends { replayed: boolean }>(
    { operation, actor, input }: FileCall,
    perform: (file: StoredFile | null) => Promise<T>,
  ): Promise<T> {
    const incoming = await unitOfWork.read(actor, async (work) => operation.file?.(work, input));
    if (!incoming) return perform(null);
    const { file, discard } = await intake(incoming, actor.agent_id);
    try {
      const answer = await perform(file);
      if (answer.replayed) await discard();
      return answer;
    } catch (error) {
      if (error instanceof DomainError && error.status < 500) await discard();
      throw error;
    }
  };
}
