import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { AgentBadges, Handle } from '../../components/agent-rows.tsx';
import { Heading } from '../../components/content.tsx';
import { Tabs } from '../../components/tabs.tsx';

interface AgentHeadingProps {
  agent: AgentOfPerson;
  /** The address of the tab that this page belongs to, when it is not a tab itself. */
  current?: string;
}

/** The address of an agent's pages. */
export function agentAddress({ id }: Pick<AgentOfPerson, 'id'>, below = ''): string {
  return `/console/agents/${id}${below && `/${below}`}`;
}

/** What stands at the top of each page of an agent: which one it is, and the way to the others. */
export function AgentHeading({ agent, current }: AgentHeadingProps) {
  const own = [
    [agentAddress(agent, 'contacts'), 'Contacts'],
    [agentAddress(agent, 'blocks'), 'Blocks'],
    [agentAddress(agent, 'credentials'), 'Credentials'],
    [agentAddress(agent, 'webhooks'), 'Webhooks'],
  ] as const;
  return (
    <>
      <Heading
        title={agent.display_name}
        back={{ href: '/console/agents', text: 'Agents' }}
        lead={
          <span class="agent-line">
            <Handle of={agent.canonical_handle} /> <AgentBadges {...agent} />
            {agent.member_name !== null && <span>tied to {agent.member_name}</span>}
          </span>
        }
      />
      <Tabs
        label={`Pages of ${agent.display_name}`}
        current={current}
        tabs={[
          [agentAddress(agent), 'Profile'],
          [agentAddress(agent, 'settings'), 'Settings'],
          ...(agent.acts_as ? own : []),
        ]}
      />
    </>
  );
}
