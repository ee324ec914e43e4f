import { a2aCardUrl } from '../../../../../packages/core/src/domain/a2a.ts';
import { listCredentialsPage } from '../../../../services/auth/credentials.ts';
import { listAgentsOfPerson } from '../../../../services/people/agents.ts';
import { Card, Notice } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { CopyText, CopyValue } from '../../components/secrets.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { agentPage, type AgentVisit } from './agent-page.tsx';
import { snippets } from './snippets.ts';

const otherHint = 'Replace owner.agent with the handle of the agent to write to.';

/** Programs that connect as this agent, one at a time. */
async function showQuickStart({ agent, agentPath, address, person, parts, query, read }: AgentVisit) {
  const shown = snippets.find(({ name }) => name === query.get('client')) ?? snippets[0];
  if (!shown) return null;
  const { public_url } = parts.settings;
  const [[credential], own] = await Promise.all([
    read(listCredentialsPage, agent.id, { active: true, before: null, limit: 1 }),
    read(listAgentsOfPerson, person.account_id, { right: 'acts_as' as const, limit: 2 }),
  ]);
  const other = own.find(({ id }) => id !== agent.id);
  const values = {
    public_url,
    client_id: credential?.client_id ?? 'YOUR_CLIENT_ID',
    recipient: other?.canonical_handle ?? 'owner.agent',
  };
  const addressOf = (name: string) => `${address}?client=${name}`;
  return (
    <Card title="Connect">
      <Tabs
        label="Ways to connect"
        tabs={snippets.map(({ name, title }) => [addressOf(name), title] as const)}
        current={addressOf(shown.name)}
      />
      {!credential && shown.name !== 'mcp' && (
        <Notice tone="accent" title="This agent has no credential">
          <ButtonLink href={agentPath('credentials/new')}>Create a credential</ButtonLink>
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

/** How programs and other systems reach an agent. */
export const agentConnectPage = agentPage({
  path: 'connect',
  title: ({ agent }) => `Connect ${agent.display_name}`,
  sections: () => [
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
