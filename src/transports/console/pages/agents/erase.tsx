import { authorFromPerson } from '../../../../domain/auth/audit.ts';
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
    'It is deleted first: its credentials, apps, tokens and connections end at once.',
    'Its card, contacts, blocks, webhooks, events and files are removed.',
    'Every message that it ever sent is emptied. Their places stay, and show its handle.',
    'The handle is never given away again, not to you either.',
    'This cannot be undone. A report tells what was erased, and what is left and why.',
  ],
};

/** Erasing an agent with all that it said, after its handle was typed. */
export function agentEraseRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, person }) => {
      const agent = await unitOfWork.readAsSystem((all) =>
        requireAgentOfPerson(all, person.account_id, params['id'] ?? '', 'manages'),
      );
      return confirmHandlePage(agent, erasing);
    }),
    action(path, async ({ params, person, form }) => {
      const typed = form.get('handle') ?? '';
      const agent = await unitOfWork.writeAsSystem(async (work) => {
        const found = await requireAgentOfPerson(work, person.account_id, params['id'] ?? '', 'manages');
        if (matchesHandle(found, typed)) {
          await beginErasure(work, { ...found, retired: false }, person.account_id);
        }
        return found;
      }, authorFromPerson(person));
      if (!matchesHandle(agent, typed)) return { ...confirmHandlePage(agent, erasing, typed), status: 400 };
      return { to: erasuresAddress, flash: successFlash(`@${agent.canonical_handle} is being erased.`) };
    }),
  ];
}
