//! The Gregorian calendar, also for the years before it was in use; days are counted from
//! 1970-01-01.

/// The days of 400 years, after which the calendar repeats itself.
const ERA: i64 = 146_097;
/// The days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// The year; 0 is the one before the year 1.
    pub year: i64,
    /// From 1 to 12.
    pub month: i64,
    /// From 1 to the length of the month.
    pub day: i64,
}

impl Date {
    /// Returns the date that is some days after 1970-01-01, or before it if they are negative.
    pub fn from_days(days: i64) -> Date {
        // Years begin in March here, so that the day that may be missing is the last one.
        let days = days + EPOCH;
        let (era, day_of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / (ERA - 1)) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        Date {
            year: era * 400 + year_of_era + i64::from(month <= 2),
            month,
            day: day_of_year - days_before_month(month_from_march) + 1,
        }
    }

    /// Returns how many days the date is after 1970-01-01; negative if it is before.
    pub fn days(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let day_of_year = days_before_month((self.month + 9) % 12) + self.day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        era * ERA + day_of_era - EPOCH
    }

    /// Returns whether there is such a month, and such a day in it.
    pub fn exists(self) -> bool {
        (1..=days_in_month(self.year, self.month)).contains(&self.day)
    }
}

/// Returns the length of a month, 0 for a month that does not exist.
pub fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

/// Days before the first of a month in a year that begins in March, which is month 0.
fn days_before_month(month_from_march: i64) -> i64 {
    (153 * month_from_march + 2) / 5
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every day of eight centuries, there and back.
    #[test]
    fn days_and_dates_are_each_others_inverse() {
        let mut days = Date { year: 1600, month: 1, day: 1 }.days();
        for year in 1600..2400 {
            for month in 1..=12 {
                for day in 1..=days_in_month(year, month) {
                    let date = Date { year, month, day };
                    assert_eq!((date.days(), Date::from_days(days)), (days, date));
                    days += 1;
                }
            }
        }
    }

    #[test]
    fn dates_are_known() {
        for (days, year, month, day) in [
            (-719_528, 0, 1, 1),
            (-719_468, 0, 3, 1),
            (-719_162, 1, 1, 1),
            (-1, 1969, 12, 31),
            (0, 1970, 1, 1),
            (11_016, 2000, 2, 29),
            (20_779, 2026, 11, 22),
            (2_932_896, 9999, 12, 31),
        ] {
            let date = Date { year, month, day };
            assert_eq!((Date::from_days(days), date.days()), (date, days));
        }
    }

    #[test]
    fn some_days_do_not_exist() {
        for (year, month, day, exists) in [
            (2024, 2, 29, true),
            (2100, 2, 29, false),
            (2000, 2, 29, true),
            (2026, 4, 31, false),
            (2026, 0, 1, false),
            (2026, 13, 1, false),
            (2026, 1, 0, false),
        ] {
            assert_eq!(Date { year, month, day }.exists(), exists, "{year}-{month}-{day}");
        }
    }
}
