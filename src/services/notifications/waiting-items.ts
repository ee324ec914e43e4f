import type { ReadWork } from '../../work/unit-of-work.ts';
import type { WaitingItem, WaitingKind } from '../../../packages/core/src/domain/notifications.ts';
import { toVisibleLine } from '../../../packages/core/src/domain/visible-text.ts';
import { asksPerson, findAskedAgent, readWaiting, type Waiting } from '../people/waiting.ts';

/** More items of one kind are left out until some of them are answered. */
const maxItems = 100;
const maxNameLength = 80;

/** Returns the pending items of a person, as items of a notification, oldest first. Times in milliseconds. */
export async function readWaitingItems(work: ReadWork, account_id: string): Promise<WaitingItem[]> {
  const waiting = await readWaiting(work, account_id, maxItems);
  const items = [
    ...waiting.approvals.map(toApprovalItem),
    ...waiting.requests.map(toRequestItem),
    ...waiting.threads.flatMap(toThreadItem),
    ...waiting.webhooks.map(toWebhookItem),
    ...waiting.inboxes.map(toInboxItem),
  ];
  return items.sort((one, other) => one.since - other.since);
}

const nameOf = (name: string) => toVisibleLine(name, maxNameLength);

function toApprovalItem({
  id,
  agent_id,
  agent_handle,
  agent_display_name,
  action,
  target,
  created_at,
}: Waiting['approvals'][number]): WaitingItem {
  const wish =
    action === 'request_contact'
      ? `send a contact request to @${target}`
      : `remove @${target} from its contacts`;
  return {
    key: id,
    kind: 'approval',
    agent_id,
    agent_handle,
    text: `${nameOf(agent_display_name)} (@${agent_handle}) wants to ${wish}`,
    since: created_at,
    path: `/console/approvals/${id}`,
  };
}

function toRequestItem({
  request_id,
  agent_id,
  agent_handle,
  from_handle,
  from_name,
  created_at,
}: Waiting['requests'][number]): WaitingItem {
  return {
    key: request_id,
    kind: 'contact_request',
    agent_id,
    agent_handle,
    text: `${nameOf(from_name)} (@${from_handle}) wants to be a contact of @${agent_handle}`,
    since: created_at,
    path: `/console/agents/${agent_id}/contacts`,
  };
}

function toThreadItem(thread: Waiting['threads'][number]): WaitingItem[] {
  const { id, subject, last_message } = thread;
  const agent = findAskedAgent(thread);
  if (!agent || !last_message) return [];
  const kind: WaitingKind = asksPerson(thread) ? 'question' : 'no_answer';
  const topic = nameOf(subject ?? '');
  const place = topic === '' ? 'a conversation' : `“${topic}”`;
  const state = kind === 'question' ? 'asks a person' : 'has no answer';
  return [
    {
      key: last_message.id,
      kind,
      agent_id: agent.id,
      agent_handle: agent.canonical_handle,
      text: `@${last_message.sender_handle} ${state} in ${place} with @${agent.canonical_handle}`,
      since: last_message.created_at,
      path: `/console/conversations/${id}`,
    },
  ];
}

function toWebhookItem({
  id,
  agent_id,
  agent_handle,
  url,
  description,
  disabled_at,
}: Waiting['webhooks'][number]): WaitingItem {
  return {
    key: `${id}/${disabled_at}`,
    kind: 'webhook',
    agent_id,
    agent_handle,
    text: `The webhook ${nameOf(description) || new URL(url).host} of @${agent_handle} was disabled`,
    since: disabled_at,
    path: `/console/agents/${agent_id}/webhooks/${id}`,
  };
}

function toInboxItem({ agent_id, agent_handle, since }: Waiting['inboxes'][number]): WaitingItem {
  return {
    key: `${agent_id}/${since}`,
    kind: 'inbox',
    agent_id,
    agent_handle,
    text: `The inbox of @${agent_handle} has dead items`,
    since,
    path: `/console/agents/${agent_id}/inbox`,
  };
}
