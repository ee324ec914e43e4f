import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { Card, Notice } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { CopyText } from '../../components/secrets.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { agentAddress } from './agent-page.tsx';
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
export function QuickStart({ agent, wanted, public_url, client_id, other }: QuickStartProps) {
  const [first] = snippets;
  const shown = snippets.find(({ name }) => name === wanted) ?? first;
  if (!shown) return null;
  const addressOf = (name: string) => `${agentAddress(agent)}?client=${name}`;
  const values = {
    public_url,
    client_id: client_id ?? 'YOUR_CLIENT_ID',
    recipient: other?.canonical_handle ?? 'owner.agent',
  };
  return (
    <div id="connect">
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
    </div>
  );
}
