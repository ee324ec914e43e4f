import { byPerson } from '../../domain/audit.ts';
import { beginErasure } from '../../services/erasure.ts';
import { type AgentOfPerson, agentOfPerson } from '../../services/person-agents.ts';
import { said } from '../flash.ts';
import { Handle } from '../kit/agents.tsx';
import { Card } from '../kit/content.tsx';
import { Field } from '../kit/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../kit/form.tsx';
import type { PageParts } from '../parts.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../route.ts';
import { agentAddress, AgentHeading } from './agent-heading.tsx';
import { erasuresAddress } from './erasures.tsx';

const path = '/console/agents/:id/erase';

/** Erasing an agent with all that it said, after its handle was typed. */
export function agentEraseRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, person }) => {
      const agent = await unitOfWork.consult((all) =>
        agentOfPerson(all, person.account_id, params['id'] ?? '', 'manages'),
      );
      return erasePage(agent);
    }),
    action(path, async ({ params, person, form }) => {
      const typed = form.get('handle') ?? '';
      const name = typed.trim().replace(/^@/, '').toLowerCase();
      const agent = await unitOfWork.record(async (work) => {
        const found = await agentOfPerson(work, person.account_id, params['id'] ?? '', 'manages');
        if (name === found.canonical_handle) {
          await beginErasure(work, { ...found, retired: false }, person.account_id);
        }
        return found;
      }, byPerson(person));
      if (name !== agent.canonical_handle) return { ...erasePage(agent, typed), status: 400 };
      return { to: erasuresAddress, flash: said(`@${agent.canonical_handle} is being erased.`) };
    }),
  ];
}

function erasePage(agent: AgentOfPerson, typed?: string): ShownPage {
  const { canonical_handle: handle, display_name } = agent;
  const body = (
    <>
      <AgentHeading agent={agent} current={agentAddress(agent, 'settings')} />
      <Card title={`Erase ${display_name}?`} tone="danger">
        <ul class="points">
          <li>It is deleted first: its credentials, apps, tokens and connections end at once.</li>
          <li>Its card, contacts, blocks, webhooks, events and files are removed.</li>
          <li>Every message that it ever sent is emptied. Their places stay, and show its handle.</li>
          <li>The handle is never given away again, not to you either.</li>
          <li>This cannot be undone. A report tells what was erased, and what is left and why.</li>
        </ul>
        <Form action={agentAddress(agent, 'erase')}>
          <Field
            name="handle"
            label="Its handle"
            hint={
              <>
                Type <Handle of={handle} /> to show that you mean this one.
              </>
            }
            value={typed}
            error={typed === undefined ? undefined : `This is not ${handle}.`}
            plain
            required
          />
          <Actions>
            <Button kind="danger">Erase it for good</Button>
            <ButtonLink href={agentAddress(agent, 'settings')}>Keep it</ButtonLink>
          </Actions>
        </Form>
      </Card>
    </>
  );
  const title = `Erase ${display_name}`;
  return { title: typed === undefined ? title : `Error: ${title}`, body };
}
