import type {
  ContactRecord,
  ContactRequestRecord,
} from '../../../../../packages/core/src/records/contact.ts';
import { Handle, monogram, type Row, Time } from '../../components/rows.tsx';
import { Quote } from '../../components/content.tsx';
import { Decision } from '../../components/form.tsx';
import type { AgentVisit } from '../agents/agent-page.tsx';

/** A received contact request with Approve and Reject. */
export function incomingRow({ from, ...request }: ContactRequestRecord, { address, agent }: AgentVisit): Row {
  return {
    ...requestRow(request, from),
    side: (
      <Decision
        action={`${address}/requests/decide`}
        hidden={{ request_id: request.request_id }}
        yes={agent.paused ? undefined : 'approve'}
        no="reject"
        about={`@${from.canonical_handle}`}
      />
    ),
  };
}

/** A sent contact request without a decision, with Withdraw. */
export function outgoingRow({ to, ...request }: ContactRequestRecord, { address }: AgentVisit): Row {
  const { request_id } = request;
  const about = `@${to.canonical_handle}`;
  return {
    ...requestRow(request, to),
    badges: [['plain', 'Pending']],
    buttons: [{ label: 'Withdraw', action: `${address}/requests/withdraw`, hidden: { request_id }, about }],
  };
}

/** A request with the agent at its other end. */
function requestRow(
  { request_id, message, created_at }: Pick<ContactRequestRecord, 'request_id' | 'message' | 'created_at'>,
  { display_name, canonical_handle }: ContactRequestRecord['from'],
) {
  return {
    key: request_id,
    mark: monogram(display_name),
    title: <bdi>{display_name}</bdi>,
    text: (
      <>
        <Handle of={canonical_handle} /> · <Time at={created_at} />
        <Quote text={message} />
      </>
    ),
  };
}

/** A contact, with its marks and buttons. */
export function contactRow(contact: ContactRecord, { address }: AgentVisit): Row {
  const { agent_id, canonical_handle, display_name, favorite, is_online, same_owner, since } = contact;
  const about = `@${canonical_handle}`;
  return {
    key: agent_id,
    mark: monogram(display_name),
    title: <bdi>{display_name}</bdi>,
    lines: [[<Handle of={canonical_handle} />, ['since ', <Time at={since} />]]],
    badges: [
      same_owner && ['plain', 'Same owner'],
      favorite && ['accent', 'Favorite'],
      is_online && ['good', 'Online'],
    ],
    buttons: [
      {
        label: favorite ? 'Remove favorite' : 'Add favorite',
        action: `${address}/favorite`,
        hidden: { agent_id, favorite: String(!favorite) },
        about,
      },
      { label: 'Remove', href: `${address}/${agent_id}/remove`, about },
    ],
  };
}
