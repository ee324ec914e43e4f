import type {
  ContactRecord,
  ContactRequestRecord,
} from '../../../../../packages/core/src/records/contact.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { Handle, monogram } from '../../components/agent-rows.tsx';
import { Badge } from '../../components/content.tsx';
import { Button, ButtonLink, Form } from '../../components/form.tsx';
import { Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { agentAddress } from '../agents/heading.tsx';

interface RequestsProps {
  agent: AgentOfPerson;
  requests: readonly ContactRequestRecord[];
}

/** Received contact requests with Approve and Reject. */
export function IncomingRequests({ agent, requests }: RequestsProps) {
  const rows = requests.map(({ request_id, from, message, created_at }) => ({
    key: request_id,
    mark: monogram(from.display_name),
    title: <bdi>{from.display_name}</bdi>,
    text: <RequestText handle={from.canonical_handle} message={message} at={created_at} />,
    side: (
      <Form
        action={agentAddress(agent, 'contacts/requests/decide')}
        class="button-pair"
        hidden={{ request_id }}
      >
        {!agent.paused && (
          <Button name="decision" value="approve">
            Approve<span class="visually-hidden"> @{from.canonical_handle}</span>
          </Button>
        )}
        <Button kind="quiet" name="decision" value="reject">
          Reject<span class="visually-hidden"> @{from.canonical_handle}</span>
        </Button>
      </Form>
    ),
  }));
  return <Rows label="Received requests" rows={rows} />;
}

/** Sent contact requests without a decision, with Withdraw. */
export function OutgoingRequests({ agent, requests }: RequestsProps) {
  const rows = requests.map(({ request_id, to, message, created_at }) => ({
    key: request_id,
    mark: monogram(to.display_name),
    title: <bdi>{to.display_name}</bdi>,
    text: <RequestText handle={to.canonical_handle} message={message} at={created_at} />,
    side: (
      <>
        <Badge>Pending</Badge>
        <Form
          action={agentAddress(agent, 'contacts/requests/withdraw')}
          class="inline"
          hidden={{ request_id }}
        >
          <Button kind="quiet">
            Withdraw<span class="visually-hidden"> @{to.canonical_handle}</span>
          </Button>
        </Form>
      </>
    ),
  }));
  return <Rows label="Sent requests" rows={rows} />;
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

/** The contacts of an agent. */
export function Contacts({ agent, contacts }: ContactsProps) {
  if (contacts.length === 0) return <p>No contacts yet. Contacts can write to each other at any time.</p>;
  const rows = contacts.map(
    ({ agent_id, canonical_handle, display_name, favorite, is_online, same_owner, since }) => ({
      key: agent_id,
      mark: monogram(display_name),
      title: (
        <>
          <bdi>{display_name}</bdi> {same_owner && <Badge>Same owner</Badge>}{' '}
          {favorite && <Badge tone="accent">Favorite</Badge>} {is_online && <Badge tone="good">Online</Badge>}
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
              {favorite ? 'Remove favorite' : 'Add favorite'}
              <span class="visually-hidden"> @{canonical_handle}</span>
            </Button>
          </Form>
          <ButtonLink href={agentAddress(agent, `contacts/${agent_id}/remove`)}>
            Remove<span class="visually-hidden"> @{canonical_handle}</span>
          </ButtonLink>
        </>
      ),
    }),
  );
  return <Rows label="Contacts" rows={rows} />;
}
