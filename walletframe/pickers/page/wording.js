// What a picker says of how much there is, was found and is chosen.

function counted(number) {
  return number.toLocaleString("en");
}

/** Say how many options there are, or match, or remain. */
export function countText({ typed, found, here, all }) {
  if (typed) return `${counted(found)} of ${counted(here)} match`;
  return here === all
    ? `${counted(all)} to choose from`
    : `${counted(here)} of ${counted(all)} here`;
}

/** Say what the button does that takes all that was found; empty where there is no use for it. */
export function allText({ typed, found, unchosen, here, all }) {
  if (found < 2) return "";
  const which = typed ? " that match" : here === all ? "" : " here";
  return unchosen > 0
    ? `Select all ${counted(found)}${which}`
    : `Remove all ${counted(found)}${which}`;
}

/** Say to those who don't see it what was found, what is chosen, and what Enter does. */
export function statusText({ chosen, enter, ...counts }) {
  const parts = [countText(counts), `${counted(chosen)} chosen`];
  return [...parts, ...(enter ? [`Enter chooses ${enter}`] : [])].join(", ");
}

/** Say how many balances stand behind an option, and of what; nothing where that is not known. */
export function balancesText(balances) {
  if (balances === null || balances === undefined) return ["", ""];
  return [counted(balances), balances === 1 ? " balance" : " balances"];
}
