/** What an agent says of itself, as a form holds it. */
export interface Profile {
  display_name: string;
  description: string;
  card_body: string;
  skills: { name: string; description: string }[];
}

export const maxSkills = 20;

export const emptyProfile: Profile = { display_name: '', description: '', card_body: '', skills: [] };

/** Bytes of a form with a profile: a card of 32 KiB and everything else, each byte of it escaped. */
export const maxProfileFormBytes = 256 * 1024;

/** A profile as it was entered. Rows of skills that were left empty are left out. */
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

/** Browsers send the ends of lines as CR LF (HTML, section 4.10.22.4), whatever was typed or loaded. */
function normalizeNewlines(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
