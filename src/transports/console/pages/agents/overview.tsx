import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import {
  type AgentOfPerson,
  listAgentsOfPerson,
  requireAgentOfPerson,
} from '../../../../services/people/agents.ts';
import { listCredentialsPage } from '../../../../services/auth/credentials.ts';
import { findConversations, type ListedConversation } from '../../../../services/threads/conversations.ts';
import { Card, Facts } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import type { PageParts } from '../../parts.ts';
import { type ConsoleRoute, page } from '../../route.ts';
import { conversationsAddress } from '../conversations/filters.tsx';
import { ConversationRows } from '../conversations/rows.tsx';
import { usageAddress } from '../usage/usage.tsx';
import { agentAddress, AgentHeading } from './heading.tsx';
import { QuickStart } from './quick-start.tsx';
import { TryIt } from './try.tsx';

const path = '/console/agents/:id';
const maxConversations = 5;

/** The overview of an agent: its status, how to connect, and its latest conversations. */
export function agentOverviewRoutes({ unitOfWork, settings }: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, query, person }) => {
      const { account_id } = person;
      return unitOfWork.read(system, async (work) => {
        const agent = await requireAgentOfPerson(work, account_id, params['id'] ?? '', 'manages');
        const [conversations, credentials, own] = agent.acts_as
          ? await Promise.all([
              findConversations(
                work,
                { account_id },
                { agent: agent.id },
                { after: null, limit: maxConversations },
              ),
              listCredentialsPage(work, agent.id, { active: true, before: null, limit: 1 }),
              listAgentsOfPerson(work, account_id, { right: 'acts_as', limit: 2 }),
            ])
          : [[], [], []];
        const body = (
          <>
            <AgentHeading agent={agent} />
            <Status agent={agent} />
            {agent.acts_as && (
              <>
                {settings.has_echo_agent && <TryIt agent={agent} />}
                <Latest agent={agent} conversations={conversations} />
                <QuickStart
                  agent={agent}
                  wanted={query.get('client')}
                  public_url={settings.public_url}
                  client_id={credentials[0]?.client_id}
                  other={own.find(({ id }) => id !== agent.id)}
                />
              </>
            )}
          </>
        );
        return { title: agent.display_name, body, script: 'copy' };
      });
    }),
  ];
}

function Status({ agent }: { agent: AgentOfPerson }) {
  const { paused, is_online, canonical_handle, owner_name, member_name } = agent;
  return (
    <Card title="Status" action={<ButtonLink href={agentAddress(agent, 'settings')}>Settings</ButtonLink>}>
      <Facts
        facts={[
          ['Handle', <span class="code">@{canonical_handle}</span>],
          ['Owner', owner_name],
          ...(member_name === null ? [] : [['Linked with', member_name] as const]),
          ['Connection', is_online ? 'Online' : 'Offline'],
          ['State', paused ? 'Paused: it cannot send or receive messages' : 'Active'],
        ]}
      />
    </Card>
  );
}

interface LatestProps {
  agent: AgentOfPerson;
  conversations: readonly ListedConversation[];
}

function Latest({ agent, conversations }: LatestProps) {
  const links = (
    <span class="actions">
      <a href={`${conversationsAddress}?agent=${agent.id}`}>All conversations</a>
      <a href={usageAddress({ agent: agent.id })}>Usage</a>
    </span>
  );
  return (
    <Card title="Latest conversations" action={conversations.length > 0 && links}>
      {conversations.length === 0 ? (
        <p>None yet. Connect a program below and send a first message.</p>
      ) : (
        <ConversationRows conversations={conversations} />
      )}
    </Card>
  );
}
