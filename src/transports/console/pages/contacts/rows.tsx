import type { ContactRecord, ContactRequestRecord } from '../../../../presenters/contact.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { Handle, monogram } from '../../components/agent-rows.tsx';
import { Badge } from '../../components/content.tsx';
import { Button, ButtonLink, Form } from '../../components/form.tsx';
import { Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { agentAddress } from '../agents/heading.tsx';

interface IncomingRequestsProps {
  agent: AgentOfPerson;
  requests: readonly ContactRequestRecord[];
}

/** Who asks this agent for contact, with the two answers. */
export function IncomingRequests({ agent, requests }: IncomingRequestsProps) {
  const rows = requests.map(({ request_id, from, message, created_at }) => ({
    key: request_id,
    mark: monogram(from.display_name),
    title: <bdi>{from.display_name}</bdi>,
    text: <RequestText handle={from.canonical_handle} message={message} at={created_at} />,
    side: (
      <Form action={agentAddress(agent, 'contacts/requests/decide')} class="pair" hidden={{ request_id }}>
        {!agent.paused && (
          <Button name="decision" value="approve">
            Approve<span class="unseen"> @{from.canonical_handle}</span>
          </Button>
        )}
        <Button kind="quiet" name="decision" value="reject">
          Reject<span class="unseen"> @{from.canonical_handle}</span>
        </Button>
      </Form>
    ),
  }));
  return <Rows label="Requests to this agent" rows={rows} />;
}

/** Whom this agent has asked and who has not answered. */
export function OutgoingRequests({ requests }: { requests: readonly ContactRequestRecord[] }) {
  const rows = requests.map(({ request_id, to, message, created_at }) => ({
    key: request_id,
    mark: monogram(to.display_name),
    title: <bdi>{to.display_name}</bdi>,
    text: <RequestText handle={to.canonical_handle} message={message} at={created_at} />,
    side: <Badge>Waits</Badge>,
  }));
  return <Rows label="Requests by this agent" rows={rows} />;
}

function RequestText({ handle, message, at }: { handle: string; message: string | null; at: number }) {
  return (
    <>
      <Handle of={handle} /> · <Time at={at} />
      {message !== null && message !== '' && <blockquote class="quote">{message}</blockquote>}
    </>
  );
}

interface ContactsProps {
  agent: AgentOfPerson;
  contacts: readonly ContactRecord[];
}

/** Whom an agent knows. */
export function Contacts({ agent, contacts }: ContactsProps) {
  if (contacts.length === 0) return <p>None yet. Contacts may write to each other at any time.</p>;
  const rows = contacts.map(({ agent_id, canonical_handle, display_name, favorite, is_online, since }) => ({
    key: agent_id,
    mark: monogram(display_name),
    title: (
      <>
        <bdi>{display_name}</bdi> {favorite && <Badge tone="accent">Favorite</Badge>}{' '}
        {is_online && <Badge tone="good">Online</Badge>}
      </>
    ),
    text: (
      <>
        <Handle of={canonical_handle} /> · since <Time at={since} />
      </>
    ),
    side: (
      <>
        <Form
          action={agentAddress(agent, 'contacts/favorite')}
          class="inline"
          hidden={{ agent_id, favorite: String(!favorite) }}
        >
          <Button kind="quiet">
            {favorite ? 'No favorite' : 'Favorite'}
            <span class="unseen"> @{canonical_handle}</span>
          </Button>
        </Form>
        <ButtonLink href={agentAddress(agent, `contacts/${agent_id}/remove`)}>
          Remove<span class="unseen"> @{canonical_handle}</span>
        </ButtonLink>
      </>
    ),
  }));
  return <Rows label="Contacts" rows={rows} />;
}
