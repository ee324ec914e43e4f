import type { ComponentChildren } from 'preact';
import { presentSubject } from '../../../../../packages/core/src/domain/threads.ts';
import { countWaiting, type Waiting } from '../../../../services/people/waiting.ts';
import { Handle, type Row, Rows, Time } from '../../components/rows.tsx';
import { Wish } from '../../components/approval-details.tsx';
import { ApprovalButtons, RequestButtons } from '../../components/approval-buttons.tsx';
import { Badge, Quote } from '../../components/content.tsx';
import { conversationAddress } from '../conversations/filters.tsx';
import { nameOf } from '../webhooks/fields.tsx';

/** The title of the home page, with the number of items that wait. */
export function homeTitle(waiting: Waiting): string {
  const count = countWaiting(waiting);
  return count === 0 ? 'Home' : `(${count}) Home`;
}

interface WaitingListProps {
  waiting: Waiting;
  /** The number of agents of the person, and the time (ms) of their last message. */
  calm: { agents: number; last_at: number | undefined };
}

/** Everything that waits for the person, each with who asks, its age, and buttons for the answer. */
export function WaitingList({ waiting, calm: { agents, last_at } }: WaitingListProps) {
  if (Object.values(waiting).every(({ length }) => length === 0))
    return (
      <p class="calm" id="waiting-none">
        Nothing needs you.
        {agents > 0 && (agents === 1 ? ' Your agent is fine.' : ` All ${agents} agents are fine.`)}
        {last_at !== undefined && [' Last message ', <Time at={last_at} />, '.']}
      </p>
    );
  const asking = waiting.questions.filter(({ asks_person }) => asks_person);
  const others = waiting.questions.filter(({ asks_person }) => !asks_person);
  // In the order of urgency, and the oldest first.
  const rows = [
    asking.map(describeQuestion),
    waiting.approvals.map(describeApproval),
    others.map(describeQuestion),
    waiting.requests.map(describeRequest),
    waiting.inboxes.map(describeInbox),
    waiting.webhooks.map(describeWebhook),
  ].flatMap((items) => items.toSorted((one, other) => (one.at ?? 0) - (other.at ?? 0)).map(toRow));
  return <Rows label="Waiting for you" rows={rows} id="waiting" />;
}

/** Something that waits. */
interface Item {
  id: string;
  address: string;
  title: ComponentChildren;
  kind: string;
  tone: 'accent' | 'warning' | 'danger';
  handle: string | undefined;
  at: number | undefined;
  below?: ComponentChildren;
  /** The one button, or else other content with the buttons. */
  button?: NonNullable<Row['buttons']>[number];
  side?: ComponentChildren;
}

/** The buttons of the list return to it. */
const home = { return_to: '/console' };

function toRow({ id, address, title, kind, tone, handle, at, below, button, side }: Item): Row {
  return {
    key: id,
    id,
    title: <a href={address}>{title}</a>,
    text: at !== undefined && (
      <>
        <Badge tone={tone}>{kind}</Badge> {handle !== undefined && <Handle of={handle} />} · <Time at={at} />
        {below}
      </>
    ),
    buttons: [button ? { ...button, kind: 'primary' } : false],
    side,
  };
}

function describeApproval(approval: Waiting['approvals'][number]): Item {
  const { id, agent_handle, created_at, message } = approval;
  const address = `/console/approvals/${id}`;
  return {
    id,
    address,
    title: <Wish {...approval} />,
    kind: 'Approval',
    tone: 'accent',
    handle: agent_handle,
    at: created_at,
    below: <Quote text={message} />,
    side: <ApprovalButtons approval={approval} hidden={home} />,
  };
}

function describeRequest(request: Waiting['requests'][number]): Item {
  const { request_id, agent_id, agent_handle, from_handle, from_name, message, created_at } = request;
  const address = `/console/agents/${agent_id}/contacts`;
  return {
    id: request_id,
    address,
    title: [<bdi>{from_name}</bdi>, ` wants to be a contact of @${agent_handle}`],
    kind: 'Contact request',
    tone: 'accent',
    handle: from_handle,
    at: created_at,
    below: <Quote text={message} />,
    side: <RequestButtons address={address} request={request} hidden={home} />,
  };
}

function describeQuestion(question: Waiting['questions'][number]): Item {
  const { thread_id, message_id, subject, sender_handle, member_handle, since, preview } = question;
  const address = conversationAddress(thread_id);
  const title = presentSubject(subject) ?? `Conversation with @${sender_handle}`;
  return {
    id: message_id,
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
    button: { label: 'Answer', href: `${address}#write`, about: title },
  };
}

function describeWebhook(webhook: Waiting['webhooks'][number]): Item {
  const address = `/console/agents/${webhook.agent_id}/webhooks/${webhook.id}`;
  const name = nameOf(webhook);
  return {
    id: webhook.id,
    address,
    title: ['Webhook ', <bdi>{name}</bdi>, ' was disabled'],
    kind: 'Webhook',
    tone: 'danger',
    handle: webhook.agent_handle,
    at: webhook.disabled_at,
    button: {
      label: 'Enable',
      action: `${address}/state`,
      hidden: { ...home, enabled: 'true' },
      about: name,
    },
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
  return {
    id: `inbox-${agent_id}`,
    address,
    title: ['The inbox of ', <bdi>{agent_name}</bdi>, ` has ${count}`],
    kind: 'Inbox',
    tone: 'danger',
    handle: agent_handle,
    at: since,
    button: { label: 'Review', href: address, about: `the dead items of @${agent_handle}` },
  };
}
