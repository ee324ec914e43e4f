import { byPerson } from '../../domain/audit.ts';
import { parseInput } from '../../operations/parse.ts';
import { registerAgentOperation } from '../../operations/register-agent.ts';
import type { Person } from '../../domain/person.ts';
import { registerForPerson } from '../../services/person-agents.ts';
import { listOrganizations } from '../../services/person-organizations.ts';
import { emptyProfile, largestProfileForm, type Profile, readProfile } from '../agent-profile.ts';
import { said } from '../flash.ts';
import { AgentCard } from '../kit/agent-card.tsx';
import { Card, Heading, Refused } from '../kit/content.tsx';
import { Select } from '../kit/field.tsx';
import { NameField } from '../kit/name-field.tsx';
import { Actions, Button, ButtonLink, Form } from '../kit/form.tsx';
import type { PageParts } from '../parts.ts';
import { formPage, orAgain, type Refusal } from '../refusal.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../route.ts';
import { CardFields, NameFields } from './agent-fields.tsx';
import { agentAddress } from './agent-heading.tsx';
import { ReachFields } from './agent-settings.tsx';

const path = '/console/agents/new';

/** Making an agent: an own one, or one of an organization. */
export function agentNewRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  const placesOf = async (person: Person) =>
    placesFor(person, await unitOfWork.consult((all) => listOrganizations(all, person)));

  return [
    page(path, async ({ person, query }) => {
      const chosen = { ...untouched, place: query.get('place') ?? untouched.place };
      return newAgentPage({ person, places: await placesOf(person), entered: chosen });
    }),
    action(
      path,
      async ({ person, form }) => {
        const entered = readEntered(form);
        const again = async (more: Pick<NewAgentPage, 'refusal' | 'preview' | 'more'> = {}) =>
          newAgentPage({ person, places: await placesOf(person), entered, ...more });
        if (form.get('do') === 'rows') return again({ more: true });
        return orAgain(
          async () => {
            const input = parseInput(registerAgentOperation.input, inputOf(entered));
            if (form.get('do') === 'preview') return again({ preview: true });
            const agent = await unitOfWork.administer(
              (work) => registerForPerson(work, person.account_id, input),
              byPerson(person),
            );
            return { to: agentAddress(agent), flash: said(`@${agent.canonical_handle} is there.`) };
          },
          (refusal) => again({ refusal }),
          { DUPLICATE_HANDLE: 'name', NOT_FOUND: 'place', FORBIDDEN: 'place' },
        );
      },
      largestProfileForm,
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

const untouched: Entered = {
  name: '',
  place: 'personal',
  profile: emptyProfile,
  visibility: 'private',
  inbound_policy: 'contacts_only',
};

function readEntered(form: URLSearchParams): Entered {
  return {
    name: (form.get('name') ?? '').trim(),
    place: form.get('place') ?? untouched.place,
    profile: readProfile(form),
    visibility: form.get('visibility') ?? '',
    inbound_policy: form.get('inbound_policy') ?? '',
  };
}

/** As the operation `register_agent` takes it. */
function inputOf({ name, place, profile, visibility, inbound_policy }: Entered): object {
  const [scope, organization] = place.split(':');
  const owner = organization === undefined ? {} : { scope, organization };
  return { name, ...profile, visibility, inbound_policy, ...owner };
}

type Place = { value: string; text: string };
type Organizations = Awaited<ReturnType<typeof listOrganizations>>;

function placesFor({ username }: Person, organizations: Organizations): Place[] {
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
  places: readonly Place[];
  entered: Entered;
  preview?: boolean;
  /** Whether more rows for skills were asked for. */
  more?: boolean;
  refusal?: Refusal;
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
        <Refused {...refusal} />
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
            lasting="It cannot be changed later."
            value={name}
            error={wrong['name']}
          />
          <NameFields profile={profile} wrong={wrong} />
        </Card>
        <Card title="Who reaches it">
          <ReachFields reach={entered} wrong={wrong} />
        </Card>
        <Card title="Card and skills">
          <details open={written || preview || more}>
            <summary>Write them now, or later on its page</summary>
            <div class="stack">
              <CardFields profile={profile} wrong={wrong} more={more} />
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
