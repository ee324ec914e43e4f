import type { Person } from '../../../domain/auth/actor.ts';
import { type AgentOfPerson, listAgentsOfPerson } from '../../../services/people/agents.ts';
import { type Dashboard, readDashboard } from '../../../services/people/dashboard.ts';
import { AgentRows, Handle, monogram } from '../components/agent-rows.tsx';
import { Badge, Card, Empty, Heading } from '../components/content.tsx';
import { ButtonLink } from '../components/form.tsx';
import { Rows } from '../components/rows.tsx';
import { CopyValue } from '../components/secrets.tsx';
import { InvitationsToPerson } from './people/membership-invitations.tsx';
import type { PageParts } from '../parts.ts';
import { type ConsoleRoute, page, type ShownPage } from '../route.ts';

const maxAgentsShown = 6;

/** `/console`: the person's agents and what needs their decision. */
export function homeRoutes({ unitOfWork, settings }: PageParts): ConsoleRoute[] {
  return [
    page('/console', async ({ person }) => {
      const { account_id } = person;
      const [agents, dashboard] = await unitOfWork.readAsSystem((repositories) =>
        Promise.all([
          listAgentsOfPerson(repositories, account_id, { limit: maxAgentsShown + 1 }),
          readDashboard(repositories, account_id),
        ]),
      );
      return homePage({ person, agents, dashboard, ...settings });
    }),
  ];
}

interface Home {
  person: Person;
  agents: readonly AgentOfPerson[];
  dashboard: Dashboard;
  public_url: string;
}

function homePage({ person, agents, dashboard, public_url }: Home): ShownPage {
  const requests = dashboard.contact_requests.reduce((sum, agent) => sum + agent.requests, 0);
  const body = (
    <>
      <Heading title={`Hello, ${person.username}`} />
      <div class="tiles">
        <Tile href="/console/approvals" count={dashboard.approvals} name="Pending approvals" isUrgent />
        <Tile
          href={dashboard.contact_requests.length === 0 ? undefined : '#contact-requests'}
          count={requests}
          name="Contact requests"
          isUrgent
        />
        <Tile href="/console/connections" count={dashboard.connections} name="Connected apps" />
      </div>
      {dashboard.invitations.length > 0 && (
        <Card title="Invitations">
          <InvitationsToPerson invitations={dashboard.invitations} />
        </Card>
      )}
      {dashboard.contact_requests.length > 0 && (
        <ContactRequests contact_requests={dashboard.contact_requests} />
      )}
      {agents.length === 0 ? (
        <Empty
          title="No agents yet"
          action={
            <ButtonLink href="/console/agents/new" kind="primary">
              Create your first agent
            </ButtonLink>
          }
        >
          An agent is an identity with which software sends and receives messages.
        </Empty>
      ) : (
        <Card title="Your agents" action={<a href="/console/agents">All agents</a>}>
          <AgentRows agents={agents.slice(0, maxAgentsShown)} />
        </Card>
      )}
      {dashboard.connections === 0 && (
        <Card title="Connect an app">
          <p>
            Enter this address in an MCP client. The client opens a page of this service, on which you choose
            the agent that it can act as.
          </p>
          <CopyValue label="MCP server address" value={`${public_url}/mcp`} />
        </Card>
      )}
    </>
  );
  return { title: 'Home', body };
}

/** A number with a label. An urgent one is highlighted unless it is 0. */
function Tile({
  href,
  count,
  name,
  isUrgent = false,
}: {
  href: string | undefined;
  count: number;
  name: string;
  isUrgent?: boolean;
}) {
  const className = isUrgent && count > 0 ? 'tile waiting' : 'tile';
  const content = (
    <>
      <span class="tile-number">{count}</span>
      <span class="tile-name">{name}</span>
    </>
  );
  return href === undefined ? (
    <div class={className}>{content}</div>
  ) : (
    <a class={className} href={href}>
      {content}
    </a>
  );
}

function ContactRequests({ contact_requests }: Pick<Dashboard, 'contact_requests'>) {
  const rows = contact_requests.map(({ id, display_name, canonical_handle, requests }) => ({
    key: id,
    mark: monogram(display_name),
    title: <a href={`/console/agents/${id}/contacts`}>{display_name}</a>,
    text: <Handle of={canonical_handle} />,
    side: <Badge tone="accent">{requests === 1 ? '1 request' : `${requests} requests`}</Badge>,
  }));
  return (
    <div id="contact-requests">
      <Card title="Contact requests">
        <Rows label="Agents with contact requests" rows={rows} />
      </Card>
    </div>
  );
}
