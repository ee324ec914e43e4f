import { fails, open, opened, send, sent, upload, uploaded, type Mistake } from './mistake.ts';

/** Contents that are refused, and calls that the state of things refuses. */
export const contents: readonly Mistake[] = [
  fails(
    'empty content',
    send({ content: '' }),
    'content: can be empty only if the message has attachments.',
    sent,
  ),
  fails(
    'blank content',
    send({ content: '   \n' }),
    'content: can be empty only if the message has attachments.',
    sent,
  ),
  fails(
    'content without a visible character',
    send({ content: '\u200B' }),
    /^content: can be empty only/,
    sent,
  ),
  fails(
    'a blank first message',
    open({ initial_message: ' ' }),
    /^initial_message: must not be blank; leave it out/,
    opened,
  ),
  fails(
    'content of 40 kB',
    send({ content: 'x'.repeat(40_000) }),
    'content: must be at most 32768 bytes of UTF-8. Send the content in parts, or call upload_attachment with text and pass the id in attachment_ids.',
    uploaded,
  ),
  fails('an object as content', send({ content: { text: 'x' } }), 'content: must be a string.', sent),
  fails(
    'HTML as the format',
    send({ content_type: 'text/html' }),
    'content_type: must be one of: text, markdown.',
    send({ content_type: 'markdown' }),
  ),
  fails(
    'metadata as words',
    send({ metadata: 'urgent' }),
    /^metadata: must be an object\.$/,
    send({ metadata: { urgent: true } }),
  ),
  fails(
    'a path of a file',
    upload({ path: '/tmp/a.txt' }),
    /The service cannot read files or addresses: call upload_attachment with text, or with content in base64\.$/,
    uploaded,
  ),
  fails(
    'the address of a file',
    upload({ url: 'https://example.com/a.txt' }),
    /cannot read files or addresses: .*with text/,
    uploaded,
  ),
  fails('text that is not base64', upload({ content: 'plain text!' }), /send it as text/, uploaded),
  fails(
    'base64 without padding',
    upload({ content: 'cGxhaW4' }),
    /^content: must be base64 with padding/,
    upload({ content: 'cGxhaW4=' }),
  ),
  fails(
    'a data: address that is not base64',
    upload({ content: 'data:text/plain;base64,???' }),
    /^content: must be base64 .*send it as text/,
    uploaded,
  ),
  fails('neither text nor content', upload({}), /send either text/, uploaded),
  fails(
    'both text and content',
    upload({ text: 'a', content: 'YQ==' }),
    /send either text/,
    upload({ content: 'YQ==' }),
  ),
  fails(
    'no file name',
    ['upload_attachment', { text: 'a' }],
    'filename: is required.',
    upload({ text: 'a' }),
  ),
  fails(
    'text declared as an image',
    upload({ text: 'a', content_type: 'image/png' }),
    /Leave out content_type/,
    upload({ text: 'a' }),
  ),
];

export const states: readonly Mistake[] = [
  fails(
    'a closed thread',
    send({ thread_id: 'CLOSED' }),
    'This thread is closed. Call update_thread with status active, or create_thread to start another.',
    ['update_thread', { thread_id: 'CLOSED', status: 'active' }],
  ),
  fails(
    'an archived thread',
    send({ thread_id: 'ARCHIVED' }),
    /^This thread is archived\. Call update_thread with status active/,
    ['update_thread', { thread_id: 'ARCHIVED', status: 'active' }],
  ),
  fails(
    'from archived to closed',
    ['update_thread', { thread_id: 'ARCHIVED', status: 'closed' }],
    /^A thread cannot go from archived to closed; set it to active first\. Call update_thread with status active/,
    ['update_thread', { thread_id: 'ARCHIVED', status: 'active' }],
  ),
  fails(
    'a file that was sent',
    send({ attachment_ids: ['SENT_FILE'] }),
    'An attachment of attachment_ids was already sent, and each can be sent once. Call upload_attachment again and pass the new id.',
    uploaded,
  ),
  fails(
    'a key that was used',
    send({ content: 'other', idempotency_key: 'USED_KEY' }),
    'This idempotency_key was used for another call. Use a new idempotency_key.',
    send({ content: 'other', idempotency_key: 'UUID' }),
  ),
  fails(
    'a handle without a dot',
    open({ with_handle: 'somebody' }),
    /owner\.agent_name\. Call search_agents/,
    ['search_agents', { q: 'somebody' }],
  ),
  fails(
    'an unknown agent',
    open({ with_handle: 'no.body' }),
    'No such agent: no.body. Call search_agents, or ask your user for the exact handle.',
    ['search_agents', { q: 'body' }],
  ),
  fails(
    'an unknown card',
    ['get_agent_card', { handle: 'no.body' }],
    /^No such agent, or it is hidden from you\. Call search_agents/,
    ['search_agents', { q: 'body' }],
  ),
  fails('oneself', ['request_contact', { handle: 'ME' }], 'handle: must not be your own handle.', [
    'request_contact',
    { handle: 'STRANGER' },
  ]),
  fails('oneself in a thread', open({ with_handle: 'ME' }), /is you/, opened),
  fails(
    'a blocked agent',
    open({ with_handle: 'BLOCKED' }),
    /^You have blocked .*Call unblock_agent if your user agrees\.$/,
    ['unblock_agent', { handle: 'BLOCKED' }],
  ),
  fails(
    'an agent that accepts only contacts',
    open({ with_handle: 'CAREFUL' }),
    /Call request_contact, then wait_for_events/,
    ['request_contact', { handle: 'CAREFUL' }],
  ),
  fails(
    'an agent that is not blocked',
    ['unblock_agent', { handle: 'FRIEND' }],
    /^You have not blocked this agent\..*create_thread/,
    opened,
  ),
  fails(
    'an agent that is no contact',
    ['remove_contact', { handle: 'STRANGER' }],
    'This agent is not one of your contacts. Call list_contacts to see them.',
    ['list_contacts', {}],
  ),
  fails(
    'a request that is not there',
    ['respond_to_contact_request', { request_id: 'FRIEND', decision: 'approve' }],
    /Call list_contact_requests to get the pending ones\.$/,
    ['list_contact_requests', {}],
  ),
  fails(
    'an invented lease',
    ['release_message', { lease_id: 'lse_1' }],
    /Call claim_messages to get a lease\.$/,
    ['claim_messages', {}],
  ),
  fails(
    'an upload that was not started',
    ['complete_upload', { attachment_id: 'a.txt' }],
    /Call request_upload_url to start an upload, or upload_attachment for a small file\.$/,
    uploaded,
  ),
];
