import { describeWish } from '../../../packages/core/src/domain/approvals.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';
import type { WaitingItem, WaitingKind } from '../../../packages/core/src/domain/notifications.ts';
import { toVisibleLine } from '../../../packages/core/src/domain/visible-text.ts';
import { isUndecided, readWaiting, type Waiting } from '../people/waiting.ts';

/** More items of one kind are left out until some of them are answered. */
const maxItems = 100;
const maxNameLength = 80;

/** Returns the pending items of a person, as items of a notification, oldest first: no questions of muted threads. Times in milliseconds. */
export async function readWaitingItems(work: ReadWork, account_id: string): Promise<WaitingItem[]> {
  const waiting = await readWaiting(work, account_id, maxItems);
  const items = [
    ...waiting.approvals.filter(isUndecided).map(toApprovalItem),
    ...waiting.requests.filter(isUndecided).map(toRequestItem),
    ...waiting.questions.filter(({ muted }) => !muted).map(toQuestionItem),
    ...waiting.webhooks.map(toWebhookItem),
    ...waiting.inboxes.map(toInboxItem),
  ];
  return items.sort((one, other) => one.since - other.since);
}

const nameOf = (name: string) => toVisibleLine(name, maxNameLength);

function toApprovalItem(approval: Waiting['approvals'][number]): WaitingItem {
  const { id, agent_id, agent_handle, agent_display_name, created_at } = approval;
  return {
    key: id,
    kind: 'approval',
    agent_id,
    agent_handle,
    text: `${nameOf(agent_display_name)} (@${agent_handle}) wants to ${describeWish(approval)}`,
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

function toQuestionItem(question: Waiting['questions'][number]): WaitingItem {
  const { thread_id, message_id, subject, sender_handle, member_id, member_handle, since } = question;
  const kind: WaitingKind = question.asks_person ? 'question' : 'no_answer';
  const topic = nameOf(subject ?? '');
  const place = topic === '' ? 'a conversation' : `“${topic}”`;
  const missing = question.overdue ? 'waits for an overdue answer' : 'has no answer';
  const state = question.asks_person ? 'asks a person' : missing;
  return {
    key: message_id,
    kind,
    agent_id: member_id,
    agent_handle: member_handle,
    text: `@${sender_handle} ${state} in ${place} with @${member_handle}`,
    since,
    path: `/console/conversations/${thread_id}`,
  };
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
