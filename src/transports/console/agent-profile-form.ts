/** The profile of an agent as form values. */
export interface Profile {
  display_name: string;
  description: string;
  card_body: string;
  skills: { name: string; description: string }[];
}

export const maxSkills = 20;

export const emptyProfile: Profile = { display_name: '', description: '', card_body: '', skills: [] };

/** Maximum size of a profile form, in bytes: a card of 32 KiB and the other fields, with every byte escaped. */
export const maxProfileFormBytes = 256 * 1024;

/** Reads a profile from a form, without empty skill rows. */
export function readProfile(form: URLSearchParams): Profile {
  const text = (name: string) => normalizeNewlines(form.get(name) ?? '');
  const skills = Array.from({ length: maxSkills }, (_, index) => ({
    name: text(`skill_name.${index}`).trim(),
    description: text(`skill_description.${index}`).trim(),
  }));
  return {
    display_name: text('display_name').trim(),
    description: text('description').trim(),
    card_body: text('card_body'),
    skills: skills.filter(({ name, description }) => name !== '' || description !== ''),
  };
}

/** Browsers send newlines as CR LF (HTML, section 4.10.22.4). */
function normalizeNewlines(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
