import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import { createThreadOperation } from '../../../../operations/threads/create-thread.ts';
import { ensureEchoAgent } from '../../../../services/agents/echo.ts';
import { findConversations } from '../../../../services/threads/conversations.ts';
import { actAsAgent, requireNotPaused } from '../../act-as-agent.ts';
import { Card, Facts } from '../../components/content.tsx';
import { ButtonLink, PostButton } from '../../components/form.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import { action } from '../../route.ts';
import { conversationAddress, conversationsAddress } from '../conversations/filters.tsx';
import { ConversationRows } from '../conversations/rows.tsx';
import { usageAddress } from '../usage/usage.tsx';
import { agentPage, type AgentVisit, agentAddress } from './agent-page.tsx';

/** The overview of an agent: its status and its latest conversations. */
export const agentOverviewPage = agentPage({
  path: '',
  right: 'manages',
  title: ({ agent }) => agent.display_name,
  sections: () => [
    ({ agent, agentPath }) => (
      <Card title="Status" action={<ButtonLink href={agentPath('settings')}>Settings</ButtonLink>}>
        <Facts
          facts={[
            ['Handle', <span class="code">@{agent.canonical_handle}</span>],
            ['Owner', agent.owner_name],
            agent.member_name !== null && [
              'Linked with',
              agent.member_has_left
                ? `${agent.member_name}, who has left ${agent.owner_name}. Pause or delete the agent, or invite the person again.`
                : agent.member_name,
            ],
            ['Connection', agent.is_online ? 'Online' : 'Offline'],
            ['State', agent.paused ? 'Paused: it cannot send or receive messages' : 'Active'],
          ]}
        />
      </Card>
    ),
    ({ agent, agentPath, parts }) =>
      agent.acts_as &&
      parts.settings.has_echo_agent && (
        <Card title="Try it">
          <p>Start a conversation with an agent of this service that answers every message with its text.</p>
          <PostButton label="Try it" action={agentPath('try')} />
        </Card>
      ),
    (visit) => visit.agent.acts_as && showLatest(visit),
  ],
});

async function showLatest({ agent, agentPath, person: { account_id }, read }: AgentVisit) {
  const newest = { after: null, limit: 5 };
  const conversations = await read(findConversations, { account_id }, { agent: agent.id }, newest);
  const links = (
    <span class="actions">
      <a href={`${conversationsAddress}?agent=${agent.id}`}>All conversations</a>
      <a href={usageAddress({ agent: agent.id })}>Usage</a>
    </span>
  );
  return (
    <Card title="Latest conversations" action={conversations.length > 0 && links}>
      {conversations.length === 0 ? (
        <p>
          None yet. <a href={agentPath('connect')}>Connect a program</a> and send a first message.
        </p>
      ) : (
        <ConversationRows conversations={conversations} />
      )}
    </Card>
  );
}

/** Opens the conversation of an agent with the echo agent, and starts it if there is none that is active. */
export const tryAction = action('/console/agents/:id/try', async ({ params, parts, person, read }) => {
  if (!parts.settings.has_echo_agent) throw new DomainError('NOT_FOUND', 'This page does not exist.');
  const { agent, call } = await actAsAgent(parts, person, params['id'] ?? '');
  return redirectOrWarn(agentAddress(agent), async () => {
    requireNotPaused(agent);
    const echo = await parts.services.run(ensureEchoAgent);
    const filters = { agent: agent.id, counterpart: echo };
    const reader = { account_id: person.account_id };
    const [latest] = await read(findConversations, reader, filters, { after: null, limit: 1 });
    if (latest?.status === 'active') return { to: conversationAddress(latest.id) };
    const initial_message = 'Hello, echo. This is my first message.';
    const input = { with_handle: echo, subject: 'Try it', initial_message };
    // The same for concurrent presses, from any number of windows: they open one thread.
    const { id } = await call(createThreadOperation, input, `try-${latest?.id ?? 'first'}`);
    return { to: conversationAddress(id) };
  });
});
