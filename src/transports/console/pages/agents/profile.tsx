import { getAgentOperation } from '../../../../operations/agents/get-agent.ts';
import { parseInput } from '../../../../operations/execute/parse-input.ts';
import { updateAgentOperation } from '../../../../operations/agents/update-agent.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { manageAgent } from '../../act-as-agent.ts';
import { maxProfileFormBytes, type Profile, readProfile } from '../../agent-profile-form.ts';
import { successFlash } from '../../flash.ts';
import { AgentCard } from './card.tsx';
import { Card, Notice, ErrorNotice } from '../../components/content.tsx';
import { Actions, Button, Form } from '../../components/form.tsx';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormRefusal } from '../../form-errors.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { CardFields, NameFields } from './fields.tsx';
import { agentAddress, AgentHeading } from './heading.tsx';

const path = '/console/agents/:id';

/** What an agent says of itself, and how its card looks. */
export function agentProfileRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, person }) => {
      const { agent, call } = await manageAgent(parts, person, params['id'] ?? '');
      return profilePage({ agent, profile: await call(getAgentOperation, { agent_ref: agent.id }) });
    }),
    action(
      path,
      async ({ params, person, form }) => {
        const { agent, call } = await manageAgent(parts, person, params['id'] ?? '');
        const profile = readProfile(form);
        const wanted = form.get('do');
        if (wanted === 'rows') return profilePage({ agent, profile, more: true });
        const change = { agent_ref: agent.id, ...profile };
        return orShowFormAgain(
          async () => {
            if (wanted === 'preview') {
              parseInput(updateAgentOperation.input, change);
              return profilePage({ agent, profile, preview: true });
            }
            await call(updateAgentOperation, change);
            return { to: agentAddress(agent), flash: successFlash('The profile is saved.') };
          },
          (refusal) => profilePage({ agent, profile, refusal }),
        );
      },
      maxProfileFormBytes,
    ),
  ];
}

interface ProfilePage {
  agent: AgentOfPerson;
  profile: Profile;
  /** Whether the card is shown as it would be. */
  preview?: boolean;
  /** Whether more rows for skills were asked for. */
  more?: boolean;
  refusal?: FormRefusal;
}

function profilePage({ agent, profile, preview = false, more = false, refusal }: ProfilePage): ShownPage {
  const wrong = refusal?.fields ?? {};
  const form = (
    <Card title="Profile" action={agent.visibility === 'public' && <PublicCard {...agent} />}>
      <ErrorNotice {...refusal} />
      <Form action={agentAddress(agent)}>
        <NameFields profile={profile} errors={wrong} />
        <CardFields profile={profile} errors={wrong} more={more} />
        <Actions>
          <Button name="do" value="save">
            Save
          </Button>
          <Button kind="quiet" name="do" value="preview">
            Preview the card
          </Button>
        </Actions>
      </Form>
    </Card>
  );
  const body = (
    <>
      <AgentHeading agent={agent} />
      {preview ? (
        <div class="beside">
          <div class="stack">
            <Notice tone="warning" title="This is a preview">
              Nothing is saved yet.
            </Notice>
            <Card title="The card as others see it">
              <AgentCard handle={agent.canonical_handle} profile={profile} />
            </Card>
          </div>
          {form}
        </div>
      ) : (
        form
      )}
    </>
  );
  return formPage(agent.display_name, body, refusal);
}

/** The way to the card as everybody can read it. */
function PublicCard({ canonical_handle }: Pick<AgentOfPerson, 'canonical_handle'>) {
  return <a href={`/v1/agents/${canonical_handle.replace('.', '/')}/card`}>Its public card</a>;
}
