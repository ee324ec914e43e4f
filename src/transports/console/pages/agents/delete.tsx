import { deleteAgentOperation } from '../../../../operations/agents/delete-agent.ts';
import { manageAgent } from '../../act-as-agent.ts';
import { successFlash } from '../../flash.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page } from '../../route.ts';
import { type HandleConfirmation, confirmHandlePage, matchesHandle } from './confirm-handle.tsx';

const path = '/console/agents/:id/delete';

const deleting: HandleConfirmation = {
  verb: 'Delete',
  points: [
    'Its credentials, connected apps, tokens and open connections end immediately.',
    'Its contacts lose it and are notified. Pending contact requests are withdrawn.',
    'Its messages stay in the threads of others, with its handle.',
    'The handle can never be used again, not even by you.',
    'This cannot be undone. To stop the agent temporarily, pause it instead.',
  ],
};

/** Deletes an agent after its handle was entered. */
export function agentDeleteRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, person }) => {
      const { agent } = await manageAgent(parts, person, params['id'] ?? '');
      return confirmHandlePage(agent, deleting);
    }),
    action(path, async ({ params, person, form }) => {
      const { agent, call } = await manageAgent(parts, person, params['id'] ?? '');
      const typed = form.get('handle') ?? '';
      if (!matchesHandle(agent, typed)) return { ...confirmHandlePage(agent, deleting, typed), status: 400 };
      await call(deleteAgentOperation, { agent_ref: agent.id });
      return { to: '/console/agents', flash: successFlash(`Deleted @${agent.canonical_handle}.`) };
    }),
  ];
}
