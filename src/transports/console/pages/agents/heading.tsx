import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { AgentBadges, Handle } from '../../components/rows.tsx';
import { Heading } from '../../components/content.tsx';
import { Tabs } from '../../components/tabs.tsx';

interface AgentHeadingProps {
  agent: AgentOfPerson;
  /** The tab of a subpage. */
  current?: string;
}

/** The path of an agent's page. */
export function agentAddress({ id }: Pick<AgentOfPerson, 'id'>, subpage = ''): string {
  return `/console/agents/${id}${subpage && `/${subpage}`}`;
}

/** The heading and tabs of an agent's pages. */
export function AgentHeading({ agent, current }: AgentHeadingProps) {
  const ownTabs = [
    [agentAddress(agent, 'inbox'), 'Inbox'],
    [agentAddress(agent, 'contacts'), 'Contacts'],
    [agentAddress(agent, 'blocks'), 'Blocks'],
    [agentAddress(agent, 'credentials'), 'Credentials'],
    [agentAddress(agent, 'webhooks'), 'Webhooks'],
    [agentAddress(agent, 'subscriptions'), 'Subscriptions'],
  ] as const;
  return (
    <>
      <Heading
        title={agent.display_name}
        back={{ href: '/console/agents', text: 'Agents' }}
        lead={
          <span class="agent-line">
            <Handle of={agent.canonical_handle} /> <AgentBadges {...agent} />
            {agent.member_name !== null && <span>agent of {agent.member_name}</span>}
          </span>
        }
      />
      <Tabs
        label={`Pages of ${agent.display_name}`}
        current={current}
        tabs={[
          [agentAddress(agent), 'Overview'],
          [agentAddress(agent, 'profile'), 'Profile'],
          [agentAddress(agent, 'settings'), 'Settings'],
          ...(agent.acts_as ? ownTabs : []),
        ]}
      />
    </>
  );
}
