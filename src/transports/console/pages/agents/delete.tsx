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
    'Its credentials, connected apps, tokens and open connections end at once.',
    'Its contacts lose it and are told so. Requests that wait are withdrawn.',
    'Its messages stay in the threads of others and keep showing its handle.',
    'The handle is never given away again, not to you either.',
    'This cannot be undone. To stop it for a while, pause it instead.',
  ],
};

/** Deleting an agent, after its handle was typed. */
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
      return { to: '/console/agents', flash: successFlash(`@${agent.canonical_handle} is deleted.`) };
    }),
  ];
}
