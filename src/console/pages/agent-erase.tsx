import { byPerson } from '../../domain/audit.ts';
import { beginErasure } from '../../services/erasure.ts';
import { agentOfPerson } from '../../services/person-agents.ts';
import { said } from '../flash.ts';
import type { PageParts } from '../parts.ts';
import { action, type ConsoleRoute, page } from '../route.ts';
import { type AgentEnd, endPage, isHandleOf } from './agent-end.tsx';
import { erasuresAddress } from './erasures.tsx';

const path = '/console/agents/:id/erase';

const erasing: AgentEnd = {
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
      const agent = await unitOfWork.consult((all) =>
        agentOfPerson(all, person.account_id, params['id'] ?? '', 'manages'),
      );
      return endPage(agent, erasing);
    }),
    action(path, async ({ params, person, form }) => {
      const typed = form.get('handle') ?? '';
      const agent = await unitOfWork.record(async (work) => {
        const found = await agentOfPerson(work, person.account_id, params['id'] ?? '', 'manages');
        if (isHandleOf(found, typed)) {
          await beginErasure(work, { ...found, retired: false }, person.account_id);
        }
        return found;
      }, byPerson(person));
      if (!isHandleOf(agent, typed)) return { ...endPage(agent, erasing, typed), status: 400 };
      return { to: erasuresAddress, flash: said(`@${agent.canonical_handle} is being erased.`) };
    }),
  ];
}
