import { eventOf, type EventType } from '../../../packages/core/src/events/list.ts';
import { createHmac } from 'node:crypto';
import { isOwnTaskChange } from '../../../chaos/event.ts';
import type {
  History,
  ReaderHistory,
  SeenEvent,
  Send,
  StoredMessage,
  StoredTask,
  TaskAnswer,
  TaskCall,
} from '../../../chaos/history.ts';
import type { WebhookPost } from '../../../scripts/parts/webhook-receiver.ts';

const [ann, bob, cid] = ['agt_ann', 'agt_bob', 'agt_cid'] as const;
const agents = [ann, bob, cid];

export const webhookSecret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;

const file = { filename: 'a.txt', content_type: 'text/plain', size_bytes: 5, sha256: 'ab'.repeat(32) };

interface Message extends StoredMessage {
  thread_id: string;
  sender: { id: string };
  reply_to: string | null;
  metadata: Record<string, unknown>;
  attachments: { id: string; scan_status: string }[];
}

function createMessage(number: number, thread_id: string, sequence: number, sender: string): Message {
  return {
    id: `msg_${number}`,
    thread_id,
    sender: toRef(sender),
    content: `driftwood ${number}`,
    content_type: 'text',
    created_at: 1_000 + number,
    sequence,
    attachments: [],
    reply_to: null,
    metadata: {},
    written_by: 'agent',
  };
}

/** Two threads: one of all three that was there, one that Ann opened with Bob. Cid was a member of the second for a time. */
function createMessages(): Record<'one' | 'two' | 'three' | 'four' | 'five', Message> {
  const file1 = {
    id: 'att_1',
    ...file,
    scan_status: 'clean',
    scanned_by: null,
    created_at: 900,
    expires_at: null,
  };
  return {
    one: createMessage(1, 'thd_old', 1, ann),
    two: { ...createMessage(2, 'thd_old', 2, bob), reply_to: 'msg_1', metadata: { number: 2 } },
    three: createMessage(3, 'thd_new', 1, ann),
    four: { ...createMessage(4, 'thd_old', 3, cid), attachments: [file1] },
    five: createMessage(5, 'thd_new', 2, bob),
  };
}

export const toRef = (id: string) => ({ id, canonical_handle: `chaos.${id.slice(4)}` });
const members = (...ids: string[]) => ids.map(toRef);
const marks = (thread_id: string, all: Record<string, number>) => ({
  thread_id,
  members: Object.entries(all).map(([id, up_to_sequence]) => ({ ...toRef(id), up_to_sequence })),
});

/** The task that Ann opened with her first message, and that Bob completed with his reply. */
function createTask(): StoredTask {
  const answer = { message_id: 'msg_2', by_id: bob };
  return {
    id: 'tsk_1',
    thread_id: 'thd_old',
    message_id: 'msg_1',
    client_id: ann,
    agent_id: bob,
    state: 'completed',
    generation: 4,
    lease_token: null,
    has_questions: false,
    message_ids: ['msg_1', 'msg_2'],
    updates: [
      { generation: 1, change: 'created', state: 'submitted', message_id: 'msg_1', by_id: ann },
      { generation: 2, change: 'state', state: 'working', message_id: null, by_id: bob },
      { generation: 3, change: 'result', state: 'working', ...answer },
      { generation: 4, change: 'state', state: 'completed', ...answer },
    ],
  };
}

function createTaskCalls(): TaskCall[] {
  const call = (kind: TaskCall['kind'], agent_id: string, answer: TaskAnswer): TaskCall => ({
    ...attempted(kind, agent_id),
    kind,
    draft: null,
    answers: [answer, answer],
  });
  const answer = { ended: false, task_id: 'tsk_1' } as const;
  return [
    call('open', ann, { ...answer, state: 'submitted', generation: 1 }),
    call('update', bob, { ...answer, state: 'working', generation: 2 }),
    call('cancel', ann, { ended: true }),
  ];
}

/** The feeds of the three agents, after number 10. */
function createFeeds(): Record<string, SeenEvent[]> {
  const { one, two, three, four, five } = createMessages();
  const feeds: Record<string, SeenEvent[]> = { [ann]: [], [bob]: [], [cid]: [] };
  let time = 1_000;
  function emit(event_id: string, type: EventType, recipients: readonly string[], fields: object): void {
    time += 1;
    const data = { ...eventOf(type).example, ...fields };
    for (const agent of recipients) {
      const feed = feeds[agent] ?? [];
      const event = { event_id, type, number: 11 + feed.length, created_at: time };
      feed.push({ ...event, data });
    }
  }
  const memberChange = (by: string, after: string[], last_sequence: number) => ({
    thread_id: 'thd_new',
    member: toRef(cid),
    by: toRef(by),
    thread: {
      ...eventOf('thread.updated').example,
      id: 'thd_new',
      members: members(...after),
      last_sequence,
    },
  });
  emit('evt_msg_1', 'message.created', agents, one);
  emit('evt_msg_2', 'message.created', agents, two);
  emit('evt_thread', 'thread.created', [ann, bob], { id: 'thd_new', members: members(ann, bob) });
  emit('evt_msg_3', 'message.created', [ann, bob], three);
  emit('evt_msg_4', 'message.created', agents, four);
  emit('evt_scan', 'attachment.scanned', agents, {
    attachment_id: 'att_1',
    scan_status: 'clean',
    thread_id: 'thd_old',
  });
  emit('evt_read', 'message.read', agents, { thread_id: 'thd_old', agent: toRef(bob), up_to_sequence: 2 });
  emit('evt_ask', 'contact.request', [cid], {
    request_id: 'creq_1',
    from: { ...toRef(ann), display_name: 'Ann' },
  });
  emit('evt_added', 'thread.member_added', agents, memberChange(bob, [ann, bob, cid], 1));
  emit('evt_msg_5', 'message.created', agents, five);
  emit('evt_got_old', 'message.delivered', agents, marks('thd_old', { [ann]: 3, [bob]: 3, [cid]: 2 }));
  emit('evt_got_new', 'message.delivered', [ann, bob], marks('thd_new', { [ann]: 2, [bob]: 1, [cid]: 2 }));
  for (const { generation, change, state, message_id, by_id } of createTask().updates) {
    const task = { ...Object(eventOf('task.updated').example['task']), id: 'tsk_1', state, generation };
    const fields = { task, change, message_id, by: toRef(by_id ?? '') };
    emit(`evt_task_${generation}`, 'task.updated', [ann, bob], fields);
  }
  emit('evt_removed', 'thread.member_removed', agents, memberChange(cid, [ann, bob], 2));
  return feeds;
}

export const attempted = (key: string, agent_id: string) => ({
  key: `key-${key}`,
  agent_id,
  begun_at: 1_000,
  acknowledged_at: 1_010,
  attempts: 2,
});

function createSends(): Send[] {
  return Object.values(createMessages()).map((message): Send => {
    const { id: message_id, thread_id, sequence, content, reply_to, metadata, attachments } = message;
    const isOpening = message_id === 'msg_3';
    const fields = isOpening ? {} : message;
    const answer = { message_id, thread_id, sequence, fields };
    return {
      ...attempted(message_id, message.sender.id),
      kind: isOpening ? 'opening' : 'REST',
      draft: {
        content,
        content_type: 'text',
        reply_to,
        metadata,
        attachment_ids: attachments.map(({ id }) => id),
      },
      others: isOpening ? [bob] : [],
      answers: [answer, answer],
    };
  });
}

function createStored(): History['stored'] {
  const { one, two, three, four, five } = createMessages();
  const old = { thread_id: 'thd_old', members: agents, last_sequence: 3 };
  const opened = { thread_id: 'thd_new', members: [ann, bob], last_sequence: 2 };
  const receipts = {
    thd_old: [
      { agent_id: ann, read: 1, delivered: 3, handled: 0 },
      { agent_id: bob, read: 2, delivered: 3, handled: 0 },
      { agent_id: cid, read: 0, delivered: 2, handled: 0 },
    ],
    thd_new: [
      { agent_id: ann, read: 1, delivered: 2, handled: 0 },
      { agent_id: bob, read: 0, delivered: 1, handled: 0 },
    ],
  };
  const inOld = { ...old, messages: [one, two, four], receipts: receipts.thd_old };
  const inNew = { ...opened, messages: [three, five], receipts: receipts.thd_new };
  return [
    { ...inOld, agent_id: ann, unread_count: 2, found: ['msg_1', 'msg_2', 'msg_4'] },
    { ...inNew, agent_id: ann, unread_count: 1, found: ['msg_3', 'msg_5'] },
    { ...inOld, agent_id: bob, unread_count: 1, found: null },
    { ...inNew, agent_id: bob, unread_count: 1, found: null },
    { ...inOld, agent_id: cid, unread_count: 2, found: null },
  ];
}

/** A request to a webhook, signed with this secret. */
export function createPost({ event_id: id, type, created_at, data }: SeenEvent, secret: string): WebhookPost {
  const body = JSON.stringify({ id, type, created_at, data });
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.1000.${body}`).digest('base64');
  return { id, timestamp: '1000', signature: `v1,${signature}`, body };
}

function createReader(agent_id: string, name: string, events: readonly SeenEvent[]): ReaderHistory {
  // Notifications over MCP have no time.
  const isMcp = name === 'MCP stream';
  return {
    agent_id,
    name,
    start: 10,
    seen: events.map((event) => ({ ...event, ...(isMcp && { created_at: null }), at: 1_020 })),
    connections: { [name]: 3 },
    complaints: [],
  };
}

/** The history of a run without violations: three agents, each with a reader on one transport. Every call returns a new copy. */
export function createValidHistory(): History {
  const feeds = createFeeds();
  const transports = ['WebSocket', 'MCP stream', 'long poll'];
  const history: History = {
    threads: [{ thread_id: 'thd_old', members: agents }],
    agents,
    sends: createSends(),
    contact_requests: [{ ...attempted('ask', ann), to: cid, answers: [{ request_id: 'creq_1' }] }],
    marks: [
      { ...attempted('mark', bob), kind: 'REST', thread_id: 'thd_old', up_to_sequence: 2, answers: [null] },
    ],
    member_changes: [
      { ...attempted('add', bob), kind: 'added', thread_id: 'thd_new', member_id: cid, answers: [null] },
      { ...attempted('leave', cid), kind: 'removed', thread_id: 'thd_new', member_id: cid, answers: [null] },
    ],
    uploads: [{ ...attempted('file', cid), file, answers: [{ attachment_id: 'att_1' }] }],
    webhooks: [
      {
        ...attempted('hook', bob),
        acknowledged_at: 1_002,
        answers: [{ webhook_id: 'whk_1', secret: webhookSecret }],
        posts: (feeds[bob] ?? [])
          .slice(1)
          .filter((event) => !isOwnTaskChange(event, bob))
          .map((event) => createPost(event, webhookSecret)),
      },
    ],
    inboxes: [],
    leases: [],
    redrives: [],
    task_calls: createTaskCalls(),
    a2a_tasks: [],
    readers: agents.map((agent, index) => createReader(agent, transports[index] ?? '', feeds[agent] ?? [])),
    complaints: [],
    stored: createStored(),
    feeds: agents.map((agent_id) => ({ agent_id, start: 10, events: feeds[agent_id] ?? [] })),
    requests: agents.map((by) => ({ by, request_ids: by === ann ? ['creq_1'] : [] })),
    downloads: [{ attachment_id: 'att_1', by: bob, sha256: file.sha256 }],
    stored_inboxes: [],
    tasks: [createTask()],
    read_tasks: [ann, bob].map((agent_id) => ({
      agent_id,
      tasks: [{ id: 'tsk_1', state: 'completed', generation: 4 }],
    })),
    outbox: [],
  };
  // Unlike structuredClone, this shares no object between two places.
  return JSON.parse(JSON.stringify(history)) as History;
}
