import type { History, SeenEvent, Send } from '../../../chaos/history.ts';

const members = ['agt_ann', 'agt_bob', 'agt_cid'];

/** Two threads: one of all three that was there, one that Ann opened with Bob. The sequences say the order of the sends. */
const messages = [
  { thread_id: 'thd_old', sequence: 1, by: 'agt_ann' },
  { thread_id: 'thd_old', sequence: 2, by: 'agt_bob' },
  { thread_id: 'thd_new', sequence: 1, by: 'agt_ann' },
  { thread_id: 'thd_old', sequence: 3, by: 'agt_cid' },
  { thread_id: 'thd_new', sequence: 2, by: 'agt_bob' },
].map((message, index) => ({ ...message, id: `msg_${index + 1}`, content: `driftwood ${index + 1}` }));

const opened = ({ thread_id, sequence }: { thread_id: string; sequence: number }): boolean =>
  thread_id === 'thd_new' && sequence === 1;

const buildMember = (agent: string, thread_id: string) => thread_id === 'thd_old' || agent !== 'agt_cid';

function buildFeed(agent: string): SeenEvent[] {
  const events: Omit<SeenEvent, 'number'>[] = [];
  for (const message of messages.filter(({ thread_id }) => buildMember(agent, thread_id))) {
    if (opened(message)) events.push({ event_id: 'evt_thread', type: 'thread.created', subject: 'thd_new' });
    events.push({ event_id: `evt_${message.id}`, type: 'message.created', subject: message.id });
  }
  if (agent === 'agt_cid') {
    events.push({ event_id: 'evt_ask', type: 'contact.request', subject: 'creq_1' });
  }
  return events.map((event, index) => ({ ...event, number: 11 + index }));
}

/** The history of a run without violations: three agents, each with a reader on one transport. Every call returns a new copy. */
export function createValidHistory(): History {
  const attempted = { begun_at: 1_000, acknowledged_at: 1_010, attempts: 2 };
  const sends = messages.map((message): Send => {
    const answer = { message_id: message.id, thread_id: message.thread_id, sequence: message.sequence };
    return {
      ...attempted,
      key: `key-${message.id}`,
      agent_id: message.by,
      kind: opened(message) ? 'opening' : 'REST',
      content: message.content,
      others: opened(message) ? ['agt_bob'] : [],
      answers: [answer, { ...answer }],
    };
  });
  return {
    threads: [{ thread_id: 'thd_old', members }],
    agents: members,
    sends,
    contact_requests: [
      {
        ...attempted,
        key: 'key-ask',
        agent_id: 'agt_ann',
        to: 'agt_cid',
        answers: [{ request_id: 'creq_1' }],
      },
    ],
    marks: [{ by: 'agt_bob', thread_id: 'thd_old', up_to_sequence: 2 }],
    readers: members.map((agent_id) => ({
      agent_id,
      name: 'WebSocket',
      start: 10,
      seen: buildFeed(agent_id).map((event) => ({ ...event, at: 1_020 })),
      connections: { WebSocket: 3 },
      complaints: [],
    })),
    complaints: [],
    stored: members.flatMap((agent_id) =>
      ['thd_old', 'thd_new']
        .filter((thread_id) => buildMember(agent_id, thread_id))
        .map((thread_id) => {
          const inThread = messages.filter((message) => message.thread_id === thread_id);
          return {
            thread_id,
            agent_id,
            last_sequence: inThread.length,
            unread_count: 0,
            messages: inThread.map(({ id, sequence, content, by }) => ({
              id,
              sequence,
              content,
              sender: { id: by },
            })),
            found: agent_id === 'agt_ann' ? inThread.map(({ id }) => id) : null,
          };
        }),
    ),
    feeds: members.map((agent_id) => ({ agent_id, start: 10, events: buildFeed(agent_id) })),
    requests: members.map((by) => ({ by, request_ids: by === 'agt_ann' ? ['creq_1'] : [] })),
    outbox: [],
  };
}
