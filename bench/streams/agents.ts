import type { Core } from '../../src/compose.ts';
import { newId } from '../../src/domain/ids.ts';
import { createMember, type Member } from '../population.ts';

/** Agents of one owner, made in one transaction. */
const batchSize = 100;
/** Transactions under way at once. */
const concurrency = 8;

/** Makes so many agents, each with a token. `name` begins the names of their owners. */
export async function createMembers(core: Core, name: string, count: number): Promise<Member[]> {
  const members: Member[] = [];
  let owners = 0;
  async function lane(): Promise<void> {
    while (owners * batchSize < count) {
      const owner = owners++;
      const size = Math.min(batchSize, count - owner * batchSize);
      const made = await core.unitOfWork.writeAsSystem(async (work) => {
        const some: Member[] = [];
        while (some.length < size) {
          some.push(await createMember(core, work, `${name}-${owner}.agent-${some.length}`));
        }
        return some;
      });
      members.push(...made);
    }
  }
  await Promise.all(Array.from({ length: concurrency }, lane));
  return members;
}

/** Opens a thread of these agents; answers its id. */
export function createThread(core: Core, members: readonly Member[]): Promise<string> {
  return core.unitOfWork.writeAsSystem(async (work) => {
    const [first] = members;
    if (!first) throw new Error('a thread needs members');
    const id = newId('thread');
    await work.threads.insert({
      id,
      subject: null,
      created_by: first.id,
      created_at: work.now,
      member_ids: members.map((member) => member.id),
    });
    return id;
  });
}
