import { z } from 'zod';
import { requestRest } from '../rest.ts';

const threadSchema = z.looseObject({
  id: z.string(),
  last_sequence: z.int(),
  last_message_at: z.int().nullable(),
  updated_at: z.int(),
  unread_count: z.int(),
  members: z.array(z.object({ id: z.string(), canonical_handle: z.string() })),
});
const contactSchema = z.looseObject({ agent_id: z.string() });
const receiptsSchema = z.array(
  z.object({
    agent: z.object({ id: z.string() }),
    delivered_up_to_sequence: z.int(),
    read_up_to_sequence: z.int(),
    // The release before has no inboxes.
    handled_up_to_sequence: z.int().default(0),
  }),
);

export type Thread = z.infer<typeof threadSchema>;

/** How far a member of a thread has got, read and handled its messages. */
export interface ReceiptMarks {
  delivered: number;
  read: number;
  handled: number;
}

/** What an agent knows of its world. Everything is kept by id. */
export interface AgentState {
  me: string;
  profile: object;
  threads: Map<string, Thread>;
  contacts: Map<string, object>;
  /** By thread, then by agent: of those members whose marks are known. */
  receipts: Map<string, Map<string, ReceiptMarks>>;
  /** By thread, then by sequence: the senders of at least the messages after the least known read mark. */
  senders: Map<string, Map<number, string>>;
}

const messagesPage = z.object({
  messages: z.array(z.object({ sequence: z.int(), sender: z.object({ id: z.string() }) })),
});

/** Counts the messages of others after the agent's own read mark. */
export function countUnread({ me, receipts, senders }: AgentState, thread_id: string): number {
  const read = receipts.get(thread_id)?.get(me)?.read ?? 0;
  return [...(senders.get(thread_id) ?? [])].filter(([sequence, sender]) => sequence > read && sender !== me)
    .length;
}

/**
 * Reads the whole state over REST. Later changes arrive as events after a cursor that was taken before; that some of it is
 * read already does no harm. Presence is no part of it: it causes no events.
 */
export async function readAgentState(api: string, token: string): Promise<AgentState> {
  /** Null for a thread that the agent has left since it was listed. */
  const find = async (path: string) => {
    const { status, body, text } = await requestRest('GET', `${api}${path}`, { token });
    if (status === 404) return null;
    if (status !== 200) throw new Error(`${path} answers ${status} ${text}`);
    return body;
  };
  const get = async (path: string) => {
    const body = await find(path);
    if (!body) throw new Error(`${path} answers 404`);
    return body;
  };
  const profile = withoutPresence(await get('/agents/me'));
  const state: AgentState = {
    me: String(profile['id']),
    profile,
    threads: new Map(),
    contacts: new Map(),
    receipts: new Map(),
    senders: new Map(),
  };
  // A thread that is archived, or no longer, between two of these is found by one of them.
  for (const query of ['status=archived&', '', 'status=archived&']) {
    const page = await get(`/threads?${query}limit=100`);
    if (page.next_cursor) throw new Error('there are more threads than one page has');
    for (const thread of z.array(threadSchema).parse(page.threads)) state.threads.set(thread.id, thread);
  }
  const { contacts } = await get('/contacts?limit=100');
  for (const contact of z.array(contactSchema).parse(contacts)) {
    state.contacts.set(contact.agent_id, withoutPresence(contact));
  }
  for (const id of state.threads.keys()) {
    const answer = await find(`/threads/${id}/receipts`);
    if (!answer) continue;
    const marks = receiptsSchema
      .parse(answer.receipts)
      .map(({ agent, ...marksOf }): [string, ReceiptMarks] => [
        agent.id,
        {
          delivered: marksOf.delivered_up_to_sequence,
          read: marksOf.read_up_to_sequence,
          handled: marksOf.handled_up_to_sequence,
        },
      ]);
    state.receipts.set(id, new Map(marks));
    state.senders.set(id, await readSenders(Math.min(...marks.map(([, { read }]) => read)), id));
  }
  return state;

  /** Newest first, so that a page is enough unless there is more after the mark. */
  async function readSenders(mark: number, id: string): Promise<Map<number, string>> {
    const senders = new Map<number, string>();
    for (let cursor = '', complete = false; !complete;) {
      const page = await find(`/threads/${id}/messages?limit=100${cursor}`);
      if (!page) break;
      for (const { sequence, sender } of messagesPage.parse(page).messages) {
        senders.set(sequence, sender.id);
        complete ||= sequence <= mark;
      }
      cursor = `&cursor=${encodeURIComponent(String(page.next_cursor))}`;
      complete ||= page.next_cursor === undefined;
    }
    return senders;
  }
}

function withoutPresence(record: Record<string, unknown>): Record<string, unknown> {
  const { is_online: _presence, ...rest_ } = record;
  return rest_;
}
