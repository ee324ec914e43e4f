import { a2aCardUrl } from '../../../../../packages/core/src/domain/a2a.ts';
import { listCredentialsPage } from '../../../../services/auth/credentials.ts';
import { type AgentOfPerson, listAgentsOfPerson } from '../../../../services/people/agents.ts';
import { Card, Notice } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { CopyText, CopyValue } from '../../components/secrets.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { agentAddress, agentPage, type AgentVisit } from './agent-page.tsx';
import { snippets } from './snippets.ts';

interface QuickStartProps {
  agent: AgentOfPerson;
  /** The snippet that the query asks for. */
  wanted: string | null;
  public_url: string;
  /** The latest credential of the agent. */
  client_id: string | undefined;
  /** Another agent of the person, to write to. */
  other: AgentOfPerson | undefined;
}

const otherHint = 'Replace owner.agent with the handle of the agent to write to.';

/** Programs that connect as this agent, one at a time. */
function QuickStart({ agent, wanted, public_url, client_id, other }: QuickStartProps) {
  const [first] = snippets;
  const shown = snippets.find(({ name }) => name === wanted) ?? first;
  if (!shown) return null;
  const addressOf = (name: string) => `${agentAddress(agent, 'connect')}?client=${name}`;
  const values = {
    public_url,
    client_id: client_id ?? 'YOUR_CLIENT_ID',
    recipient: other?.canonical_handle ?? 'owner.agent',
  };
  return (
    <Card title="Connect">
      <Tabs
        label="Ways to connect"
        tabs={snippets.map(({ name, title }) => [addressOf(name), title] as const)}
        current={addressOf(shown.name)}
      />
      {client_id === undefined && shown.name !== 'mcp' && (
        <Notice tone="accent" title="This agent has no credential">
          <ButtonLink href={agentAddress(agent, 'credentials/new')}>Create a credential</ButtonLink>
        </Notice>
      )}
      <p class="hint">
        {shown.needs} {other === undefined && shown.name !== 'mcp' && otherHint}
      </p>
      {shown.install && <CopyText label="Installation" text={shown.install(public_url)} />}
      <CopyText label={`Program for ${shown.title}`} text={shown.text(values)} />
    </Card>
  );
}

async function showQuickStart({ agent, person, parts, query, read }: AgentVisit) {
  const [[credential], own] = await Promise.all([
    read(listCredentialsPage, agent.id, { active: true, before: null, limit: 1 }),
    read(listAgentsOfPerson, person.account_id, { right: 'acts_as' as const, limit: 2 }),
  ]);
  return (
    <QuickStart
      agent={agent}
      wanted={query.get('client')}
      public_url={parts.settings.public_url}
      client_id={credential?.client_id}
      other={own.find(({ id }) => id !== agent.id)}
    />
  );
}

/** How programs and other systems reach an agent. */
export const agentConnectPage = agentPage({
  path: 'connect',
  title: ({ agent }) => `Connect ${agent.display_name}`,
  sections: [
    showQuickStart,
    ({ agent, parts: { settings } }) =>
      settings.has_a2a && (
        <Card title="A2A">
          <CopyValue label="Agent card" value={a2aCardUrl(settings.public_url, agent.canonical_handle)} />
          <p class="hint">
            Agents of other systems ask this agent through this address, also while it is offline.{' '}
            {agent.visibility === 'private' && 'This agent is private, so the card needs a token. '}
            <a href="/docs/a2a">How that works</a>
          </p>
        </Card>
      ),
  ],
});
