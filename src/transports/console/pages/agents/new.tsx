import { authorFromPerson } from '../../../../domain/auth/audit.ts';
import { parseInput } from '../../../../operations/execute/parse-input.ts';
import { registerAgentOperation } from '../../../../operations/agents/register-agent.ts';
import type { Person } from '../../../../domain/auth/actor.ts';
import { registerForPerson } from '../../../../services/people/agents.ts';
import { listOrganizations } from '../../../../services/people/memberships.ts';
import { emptyProfile, maxProfileFormBytes, type Profile, readProfile } from '../../agent-profile-form.ts';
import { successFlash } from '../../flash.ts';
import { AgentCard } from './card.tsx';
import { Card, Heading, ErrorNotice } from '../../components/content.tsx';
import { Select } from '../../components/field.tsx';
import { NameField } from '../../components/name-field.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormRefusal } from '../../form-errors.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { CardFields, NameFields } from './fields.tsx';
import { agentAddress } from './heading.tsx';
import { ReachFields } from './settings.tsx';

const path = '/console/agents/new';

/** Making an agent: an own one, or one of an organization. */
export function agentNewRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  const placesOf = async (person: Person) =>
    ownerOptions(person, await unitOfWork.readAsSystem((all) => listOrganizations(all, person)));

  return [
    page(path, async ({ person, query }) => {
      const chosen = { ...emptyForm, place: query.get('place') ?? emptyForm.place };
      return newAgentPage({ person, places: await placesOf(person), entered: chosen });
    }),
    action(
      path,
      async ({ person, form }) => {
        const entered = readForm(form);
        const again = async (more: Pick<NewAgentPage, 'refusal' | 'preview' | 'more'> = {}) =>
          newAgentPage({ person, places: await placesOf(person), entered, ...more });
        if (form.get('do') === 'rows') return again({ more: true });
        return orShowFormAgain(
          async () => {
            const input = parseInput(registerAgentOperation.input, toInput(entered));
            if (form.get('do') === 'preview') return again({ preview: true });
            const agent = await unitOfWork.writeAsSystem(
              (work) => registerForPerson(work, person.account_id, input),
              authorFromPerson(person),
            );
            return { to: agentAddress(agent), flash: successFlash(`@${agent.canonical_handle} is there.`) };
          },
          (refusal) => again({ refusal }),
          { DUPLICATE_HANDLE: 'name', NOT_FOUND: 'place', FORBIDDEN: 'place' },
        );
      },
      maxProfileFormBytes,
    ),
  ];
}

interface Entered {
  name: string;
  /** `personal`, or `member:` or `shared:` and the slug of an organization. */
  place: string;
  profile: Profile;
  visibility: string;
  inbound_policy: string;
}

const emptyForm: Entered = {
  name: '',
  place: 'personal',
  profile: emptyProfile,
  visibility: 'private',
  inbound_policy: 'contacts_only',
};

function readForm(form: URLSearchParams): Entered {
  return {
    name: (form.get('name') ?? '').trim(),
    place: form.get('place') ?? emptyForm.place,
    profile: readProfile(form),
    visibility: form.get('visibility') ?? '',
    inbound_policy: form.get('inbound_policy') ?? '',
  };
}

/** As the operation `register_agent` takes it. */
function toInput({ name, place, profile, visibility, inbound_policy }: Entered): object {
  const [scope, organization] = place.split(':');
  const owner = organization === undefined ? {} : { scope, organization };
  return { name, ...profile, visibility, inbound_policy, ...owner };
}

type OwnerOption = { value: string; text: string };
type Organizations = Awaited<ReturnType<typeof listOrganizations>>;

function ownerOptions({ username }: Person, organizations: Organizations): OwnerOption[] {
  return [
    { value: 'personal', text: `You (@${username}.…)` },
    ...organizations.flatMap(({ slug, role }) => [
      { value: `member:${slug}`, text: `${slug}, tied to you (@${slug}.…)` },
      ...(role === 'admin'
        ? [{ value: `shared:${slug}`, text: `${slug}, shared by its admins (@${slug}.…)` }]
        : []),
    ]),
  ];
}

interface NewAgentPage {
  person: Person;
  places: readonly OwnerOption[];
  entered: Entered;
  preview?: boolean;
  /** Whether more rows for skills were asked for. */
  more?: boolean;
  refusal?: FormRefusal;
}

function newAgentPage(shown: NewAgentPage): ShownPage {
  const { person, places, entered, preview = false, more = false, refusal } = shown;
  const { profile, place, name } = entered;
  const wrong = refusal?.fields ?? {};
  const written = profile.card_body !== '' || profile.skills.length > 0;
  const alone = places.length === 1;
  const owner = place.split(':')[1] ?? person.username;
  const body = (
    <>
      <Heading
        title="New agent"
        back={{ href: '/console/agents', text: 'Agents' }}
        lead="An address that software writes from and is written to."
      />
      {preview && (
        <Card title="The card as others will see it">
          <AgentCard handle={`${owner}.${name.toLowerCase()}`} profile={profile} />
        </Card>
      )}
      <Form action={path}>
        <ErrorNotice {...refusal} />
        <Card title="Who it is">
          {!alone && (
            <Select
              name="place"
              label="Owner"
              value={place}
              options={places}
              error={wrong['place'] ?? wrong['organization'] ?? wrong['scope']}
            />
          )}
          <NameField
            name="name"
            label={alone ? 'Handle' : 'Name in the handle'}
            {...(alone && { prefix: `@${person.username}.` })}
            permanenceHint="It cannot be changed later."
            value={name}
            error={wrong['name']}
          />
          <NameFields profile={profile} errors={wrong} />
        </Card>
        <Card title="Who reaches it">
          <ReachFields reach={entered} errors={wrong} />
        </Card>
        <Card title="Card and skills">
          <details open={written || preview || more}>
            <summary>Write them now, or later on its page</summary>
            <div class="stack">
              <CardFields profile={profile} errors={wrong} more={more} />
            </div>
          </details>
        </Card>
        <Actions>
          <Button name="do" value="create">
            Create the agent
          </Button>
          <Button kind="quiet" name="do" value="preview">
            Preview the card
          </Button>
          <ButtonLink href="/console/agents">Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
  return formPage('New agent', body, refusal);
}
