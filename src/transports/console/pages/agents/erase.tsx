import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { authorFromPerson } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { beginErasure } from '../../../../services/agents/erasures.ts';
import { requireAgentOfPerson } from '../../../../services/people/agents.ts';
import { successFlash } from '../../flash.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page } from '../../route.ts';
import { type HandleConfirmation, confirmHandlePage, matchesHandle } from './confirm-handle.tsx';
import { erasuresAddress } from './erasures.tsx';

const path = '/console/agents/:id/erase';

const erasing: HandleConfirmation = {
  verb: 'Erase',
  points: [
    'The agent is deleted first: its credentials, apps, tokens and connections end immediately.',
    'Its card, contacts, blocks, webhooks, events and files are removed.',
    'The content of all its messages is removed. Empty messages with its handle stay in their threads.',
    'The handle can never be used again, not even by you.',
    'This cannot be undone. A report lists what was erased, what was kept and why.',
  ],
};

/** Erases an agent with all its data after its handle was entered. */
export function agentEraseRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, person }) => {
      const agent = await unitOfWork.read(system, (work) =>
        requireAgentOfPerson(work, person.account_id, params['id'] ?? '', 'manages'),
      );
      return confirmHandlePage(agent, erasing);
    }),
    action(path, async ({ params, person, form }) => {
      const typed = form.get('handle') ?? '';
      const agent = await unitOfWork.write(authorFromPerson(person), async (work) => {
        const found = await requireAgentOfPerson(work, person.account_id, params['id'] ?? '', 'manages');
        if (matchesHandle(found, typed)) {
          await beginErasure(work, { ...found, retired: false }, person.account_id);
        }
        return found;
      });
      if (!matchesHandle(agent, typed)) return { ...confirmHandlePage(agent, erasing, typed), status: 400 };
      return { to: erasuresAddress, flash: successFlash(`Erasing @${agent.canonical_handle}.`) };
    }),
  ];
}
