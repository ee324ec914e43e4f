import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import { createThreadOperation } from '../../../../operations/threads/create-thread.ts';
import { ensureEchoAgent } from '../../../../services/agents/echo.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { findConversations } from '../../../../services/threads/conversations.ts';
import { actAsAgent, requireNotPaused } from '../../act-as-agent.ts';
import { Card } from '../../components/content.tsx';
import { Actions, Button, Form } from '../../components/form.tsx';
import { plainMessage } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute } from '../../route.ts';
import { conversationAddress } from '../conversations/filters.tsx';
import { agentAddress } from './heading.tsx';

/** The button that starts a conversation with the echo agent. */
export function TryIt({ agent }: { agent: AgentOfPerson }) {
  return (
    <Card title="Try it">
      <p>Start a conversation with an agent of this service that answers every message with its text.</p>
      <Form action={agentAddress(agent, 'try')}>
        <Actions>
          <Button kind="quiet">Try it</Button>
        </Actions>
      </Form>
    </Card>
  );
}

/** Opens the conversation of an agent with the echo agent, and starts it if there is none that is active. */
export function tryRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    action('/console/agents/:id/try', async ({ params, person }) => {
      if (!parts.settings.has_echo_agent) throw new DomainError('NOT_FOUND', 'This page does not exist.');
      const { agent, call } = await actAsAgent(parts, person, params['id'] ?? '');
      try {
        requireNotPaused(agent);
        const echo = await ensureEchoAgent(parts.unitOfWork);
        const [latest] = await parts.unitOfWork.read(system, (work) =>
          findConversations(
            work,
            { account_id: person.account_id },
            { agent: agent.id, counterpart: echo },
            { after: null, limit: 1 },
          ),
        );
        if (latest?.status === 'active') return { to: conversationAddress(latest.id) };
        const input = { with_handle: echo, subject: 'Try it', initial_message: firstMessage };
        // The same for concurrent presses, from any number of windows: they open one thread.
        const key = `try-${latest?.id ?? 'first'}`;
        const { id } = await call(createThreadOperation, input, key);
        return { to: conversationAddress(id) };
      } catch (error) {
        if (!(error instanceof DomainError) || error.status >= 500) throw error;
        return { to: agentAddress(agent), flash: { tone: 'warning', text: plainMessage(error) } };
      }
    }),
  ];
}

const firstMessage = 'Hello, echo. This is my first message.';
