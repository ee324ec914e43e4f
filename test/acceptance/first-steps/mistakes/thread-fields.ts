import { fails, open, opened, waited, waitNow, type Mistake } from './mistake.ts';

/** Names of arguments of threads and questions. */
export const threadFields: readonly Mistake[] = [
  fails('to for a new thread', ['create_thread', { to: 'FRIEND' }], /did you mean with_handle\?/, opened),
  fails(
    'members of a new thread',
    ['create_thread', { members: ['FRIEND'] }],
    /did you mean participants\?/,
    ['create_thread', { participants: ['FRIEND'] }],
  ),
  fails(
    'a message of a new thread',
    open({ message: 'Hi' }),
    /did you mean initial_message\?/,
    open({ initial_message: 'Hi' }),
  ),
  fails(
    'content of a new thread',
    open({ content: 'Hi' }),
    /did you mean initial_message\?/,
    open({ initial_message: 'Hi' }),
  ),
  fails('a title of a new thread', open({ title: 'Hi' }), /did you mean subject\?/, open({ subject: 'Hi' })),
  fails('both forms of members', open({ participants: ['FRIEND'] }), /either with_handle or participants/, [
    'create_thread',
    { participants: ['FRIEND'] },
  ]),
  fails(
    'no members',
    ['create_thread', { subject: 'x' }],
    /either with_handle or participants/,
    open({ subject: 'x' }),
  ),
  fails(
    'an unknown field of the first message',
    open({ initial_message: { text: 'Hi' } }),
    /initial_message\.text: is unknown; did you mean content\? Fields: content, content_type, attachment_ids\.$/,
    open({ initial_message: { content: 'Hi' } }),
  ),
  fails(
    'a list for the first message',
    open({ initial_message: ['a', 'b'] }),
    /^initial_message: must be a string, or must be an object with the fields content/,
    open({ initial_message: 'a' }),
  ),
  fails(
    'a question',
    ['ask', { with_handle: 'FRIEND', question: 'Why?', wait_seconds: 0 }],
    /did you mean content\?/,
    ['ask', { with_handle: 'FRIEND', content: 'Why?', wait_seconds: 0 }],
  ),
  fails(
    'to of a question',
    ['ask', { to: 'FRIEND', content: 'Why?', wait_seconds: 0 }],
    /did you mean with_handle\?/,
    ['ask', { with_handle: 'FRIEND', content: 'Why?', wait_seconds: 0 }],
  ),
  fails(
    'a timeout of a question',
    ['ask', { with_handle: 'FRIEND', content: 'Why?', timeout: 0 }],
    /did you mean wait_seconds\?/,
    ['ask', { with_handle: 'FRIEND', content: 'Why?', wait_seconds: 0 }],
  ),
  fails(
    'both places of a question',
    ['ask', { with_handle: 'FRIEND', thread_id: 'THREAD', content: 'Why?', wait_seconds: 0 }],
    /either thread_id or with_handle/,
    ['ask', { with_handle: 'FRIEND', content: 'Why?', wait_seconds: 0 }],
  ),
  fails(
    'a subject in a thread that exists',
    ['ask', { thread_id: 'THREAD', subject: 'x', content: 'Why?', wait_seconds: 0 }],
    /^subject: is only for a new thread/,
    ['ask', { thread_id: 'THREAD', content: 'Why?', wait_seconds: 0 }],
  ),
  fails(
    'a timeout of a wait',
    ['wait_for_events', { timeout_seconds: 0 }],
    /did you mean wait_seconds\?/,
    waited,
  ),
  fails(
    'a negative wait',
    ['wait_for_events', { wait_seconds: -1 }],
    'wait_seconds: must be at least 0.',
    waited,
  ),
  fails(
    'an unknown event type',
    waitNow({ types: ['message'] }),
    /must be one of: .*message\.created/,
    waitNow({ types: ['message.created'] }),
  ),
];
