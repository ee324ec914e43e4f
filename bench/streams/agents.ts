import type { Core } from '../../src/compose.ts';
import { newId } from '../../packages/core/src/domain/ids.ts';
import { createMember, type Member } from '../population.ts';

/** Agents of one owner, created in one transaction. */
const batchSize = 100;
/** Concurrent transactions. */
const concurrency = 8;

/** Creates agents with a token each. `name` is the prefix of the owners' names. */
export async function createMembers(core: Core, name: string, count: number): Promise<Member[]> {
  const members: Member[] = [];
  let owners = 0;
  async function lane(): Promise<void> {
    while (owners * batchSize < count) {
      const owner = owners++;
      const size = Math.min(batchSize, count - owner * batchSize);
      const created = await core.unitOfWork.writeAsSystem(async (work) => {
        const batch: Member[] = [];
        while (batch.length < size) {
          batch.push(await createMember(core, work, `${name}-${owner}.agent-${batch.length}`));
        }
        return batch;
      });
      members.push(...created);
    }
  }
  await Promise.all(Array.from({ length: concurrency }, lane));
  return members;
}

/** Creates a thread of these agents; returns its id. */
export function createThread(core: Core, members: readonly Member[]): Promise<string> {
  return core.unitOfWork.writeAsSystem(async (work) => {
    const [first] = members;
    if (!first) throw new Error('a thread needs members');
    const id = newId('thread');
    await work.threads.insert({
      id,
      subject: null,
      created_by: first.id,
      metadata: {},
      created_at: work.now,
      member_ids: members.map((member) => member.id),
    });
    return id;
  });
}
