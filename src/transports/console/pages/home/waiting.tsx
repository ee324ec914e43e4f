import type { ComponentChildren } from 'preact';
import { presentSubject } from '../../../../../packages/core/src/domain/threads.ts';
import { countWaiting, type Waiting } from '../../../../services/people/waiting.ts';
import { Handle, monogram, type Row, Rows, Time } from '../../components/rows.tsx';
import { Badge, Icon, Quote } from '../../components/content.tsx';
import { Decision, PostButton, RowLink } from '../../components/form.tsx';
import { requestText } from '../approvals/approval-text.ts';
import { conversationAddress } from '../conversations/filters.tsx';
import { nameOf } from '../webhooks/fields.tsx';

/** The title of the home page, with the number of items that wait. */
export function homeTitle(waiting: Waiting): string {
  const count = countWaiting(waiting);
  return count === 0 ? 'Home' : `(${count}) Home`;
}

/** Everything that waits for the person, each with who asks, its age, and buttons for the answer. */
export function WaitingList({ waiting }: { waiting: Waiting }) {
  const title = `${homeTitle(waiting)} · Agent Messaging`;
  if (countWaiting(waiting) === 0)
    return (
      <p class="calm" data-title={title} id="waiting-none">
        Nothing waits for you.
      </p>
    );
  const rows = [
    ...waiting.approvals.map(describeApproval),
    ...waiting.requests.map(describeRequest),
    ...waiting.questions.map(describeQuestion),
    ...waiting.webhooks.map(describeWebhook),
    ...waiting.inboxes.map(describeInbox),
  ].map(toRow);
  return (
    <div data-title={title} id="waiting-list">
      <Rows label="Waiting for you" rows={rows} id="waiting" />
    </div>
  );
}

/** Something that waits. */
interface Item {
  id: string;
  /** An icon, or the name whose first letter is one. */
  mark: ComponentChildren;
  address: string;
  title: ComponentChildren;
  kind: string;
  tone: 'accent' | 'warning' | 'danger';
  handle: string | undefined;
  at: number | undefined;
  below?: ComponentChildren;
  side: ComponentChildren;
}

function toRow({ id, mark, address, title, kind, tone, handle, at, below, side }: Item): Row {
  return {
    key: id,
    id,
    mark: typeof mark === 'string' ? monogram(mark) : mark,
    title: <a href={address}>{title}</a>,
    text: at !== undefined && (
      <>
        <Badge tone={tone}>{kind}</Badge> {handle !== undefined && <Handle of={handle} />} · <Time at={at} />
        {below}
      </>
    ),
    side,
  };
}

function describeApproval(approval: Waiting['approvals'][number]): Item {
  const { id, agent_display_name, agent_handle, created_at, message } = approval;
  const address = `/console/approvals/${id}`;
  return {
    id,
    mark: agent_display_name,
    address,
    title: [<bdi>{agent_display_name}</bdi>, ` ${requestText(approval)}`],
    kind: 'Approval',
    tone: 'accent',
    handle: agent_handle,
    at: created_at,
    below: <Quote text={message} />,
    side: <Decision action={address} yes="approve" no="deny" about={`what @${agent_handle} asks`} />,
  };
}

function describeRequest(request: Waiting['requests'][number]): Item {
  const { request_id, agent_id, agent_handle, from_handle, from_name, message, created_at, paused } = request;
  const address = `/console/agents/${agent_id}/contacts`;
  return {
    id: request_id,
    mark: from_name,
    address,
    title: [<bdi>{from_name}</bdi>, ` wants to be a contact of @${agent_handle}`],
    kind: 'Contact request',
    tone: 'accent',
    handle: from_handle,
    at: created_at,
    below: <Quote text={message} />,
    side: (
      <Decision
        action={`${address}/requests/decide`}
        hidden={{ request_id }}
        yes={paused ? undefined : 'approve'}
        no="reject"
        about={`@${from_handle}`}
      />
    ),
  };
}

function describeQuestion(question: Waiting['questions'][number]): Item {
  const { thread_id, message_id, subject, sender_handle, member_handle, since, preview } = question;
  const address = conversationAddress(thread_id);
  const title = presentSubject(subject) ?? `Conversation with @${sender_handle}`;
  return {
    id: message_id,
    mark: title,
    address,
    title: <bdi>{title}</bdi>,
    kind: question.asks_person ? 'Asks a person' : question.overdue ? 'Overdue' : 'No answer yet',
    tone: 'warning',
    handle: member_handle,
    at: since,
    below: (
      <p class="preview">
        <Handle of={sender_handle} />: <bdi>{preview}</bdi>
      </p>
    ),
    side: <RowLink label="Answer" href={`${address}#write`} kind="primary" about={title} />,
  };
}

function describeWebhook(webhook: Waiting['webhooks'][number]): Item {
  const address = `/console/agents/${webhook.agent_id}/webhooks/${webhook.id}`;
  const name = nameOf(webhook);
  return {
    id: webhook.id,
    mark: <Icon name="alert" />,
    address,
    title: ['Webhook ', <bdi>{name}</bdi>, ' was disabled'],
    kind: 'Webhook',
    tone: 'danger',
    handle: webhook.agent_handle,
    at: webhook.disabled_at,
    side: (
      <PostButton
        label="Enable"
        action={`${address}/state`}
        hidden={{ enabled: 'true' }}
        kind="primary"
        about={name}
      />
    ),
  };
}

/** The maximum that is counted. */
const maxDeadItems = 100;

function describeInbox({
  agent_id,
  agent_handle,
  agent_name,
  dead,
  since,
}: Waiting['inboxes'][number]): Item {
  const address = `/console/agents/${agent_id}/inbox`;
  const count = dead === 1 ? '1 dead item' : `${dead}${dead === maxDeadItems ? ' or more' : ''} dead items`;
  const about = `the dead items of @${agent_handle}`;
  return {
    id: `inbox-${agent_id}`,
    mark: <Icon name="alert" />,
    address,
    title: ['The inbox of ', <bdi>{agent_name}</bdi>, ` has ${count}`],
    kind: 'Inbox',
    tone: 'danger',
    handle: agent_handle,
    at: since,
    side: <RowLink label="Review" href={address} kind="primary" about={about} />,
  };
}
